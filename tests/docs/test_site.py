"""The site: built strictly with no network, every link of it checked, every module on an API page."""

import os
import posixpath
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

pytestmark = pytest.mark.xdist_group("site")  # one build serves them all
ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in {"stylesheet", "icon"}:
            self.loads.append(given["href"])
        elif tag in {"script", "img", "iframe"} and given.get("src"):
            self.loads.append(given["src"])


def build(target, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target), *arguments],
        cwd=ROOT,
        env={**os.environ, **NO_NETWORK, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
    }, {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_every_page_is_there(site):
    pages, _ = site
    assert {"index.html", "config.html", "tutorial.html", "contributing.html", "api/private.html"} <= set(
        pages
    )
    for path in (ROOT / "docs").rglob("*.md"):
        assert path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() in pages


def test_no_link_is_broken(site):
    pages, files = site
    assert {"files/LICENSE", "files/examples/phones.py"} <= files  # they can only be copied
    checked = 0
    for name, page in pages.items():
        if name == "404.html":  # its links are those of the site's root
            continue
        for link in page.links + page.loads:
            path, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            assert target in files, f"{name}: {link}"
            if anchor and target in pages and not anchor.startswith("__"):
                assert anchor in pages[target].anchors, f"{name}: {link}"
            checked += 1
    assert checked > 1000


def test_a_page_loads_nothing_from_elsewhere(site):
    pages, _ = site
    outside = [(name, load) for name, page in pages.items() for load in page.loads if "//" in load]
    assert outside == []


def test_every_module_stands_on_a_page_of_the_api(site):
    pages, _ = site
    anchors = set().union(*(page.anchors for name, page in pages.items() if name.startswith("api/")))
    modules = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in (ROOT / "src/mtsp_ldp").rglob("*.py")
        if not path.name.startswith("__")
    }
    assert modules - anchors == set()
    # and public names in them
    assert {
        "mtsp_ldp.simulate",
        "mtsp_ldp.population.Population.survey",
        "mtsp_ldp.stream.Stream.from_panel",
        "mtsp_ldp.queries.range_counts",
    } <= anchors


def test_links_of_the_repository_lead_to_files():
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "config/README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    for page in pages:
        for target in re.findall(r"\]\(([^()\s]+)\)", page.read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path and "://" not in path:
                assert (page.parent / path).exists(), f"{page}: {target}"


def test_what_builds_the_site_is_pinned_with_the_rest():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras["docs"]) <= set(extras["dev"])
