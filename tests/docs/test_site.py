"""The site: built strictly with no network, every link of it checked, every module on an API page."""

import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from clones import ROOT, once_for_all

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


def build(target, root=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=root,
        env={**os.environ, **NO_NETWORK, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The pages of the site, and the names of all its files."""

    def make(folder):
        done = build(folder)
        assert done.returncode == 0, done.stderr
        return done.stderr

    folder, told = once_for_all(tmp_path_factory, worker_id, "site", make)
    assert "WARNING" not in told
    return made(folder)


def made(folder):
    """The pages of a site, and the names of all its files."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in names if name.endswith(".html")}
    return {name: Page(text) for name, text in texts.items()}, names


def test_every_page_is_there(site):
    pages, _ = site
    assert {"index.html", "config.html", "tutorial.html", "contributing.html", "api/privacy.html"} <= set(
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
        "mtsp_ldp.privacy.population.Population.survey",
        "mtsp_ldp.streams.stream.Stream.from_panel",
        "mtsp_ldp.releases.release.Release.range_counts",
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


@pytest.fixture
def small(tmp_path):
    """A repository whose pages hold a title only."""
    folder = tmp_path / "small"
    for name in (
        "mkdocs.yml",
        "docs/hooks.py",
        "docs/assets/site.css",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    (folder / "docs/api").mkdir()
    (folder / "config").mkdir()
    for page in [*pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "config/README.md"]:
        (folder / page).write_text(f"# {page}\n")
    return folder


def test_links_that_leave_the_docs_lead_somewhere(small, tmp_path):
    (small / "bench").mkdir()
    (small / "bench/README.md").write_text(
        "# Bench\n\n[a script](run.py) of [the manual](../config/README.md)\n"
    )
    (small / "bench/run.py").write_text("print()\n")
    (small / "empty").mkdir()
    links = ["../bench/", "../bench/run.py", "../empty", "../config/README.md", "../README.md", "method.md"]
    text = "\n\n".join(f"[text]({link})" for link in links)
    (small / "docs/unlisted.md").write_text(f"# More\n\n{text}\n\n    [code](../nothing.md) stays\n")
    done = build(tmp_path / "site", small)
    assert done.returncode == 0, done.stderr
    pages, files = made(tmp_path / "site")
    assert {"files/bench/index.html", "files/bench/run.py"} <= files
    wanted = {"files/bench/index.html", "files/bench/run.py", "config.html", "index.html", "method.html"}
    assert wanted <= set(pages["unlisted.html"].links)
    assert {"run.py", "../../config.html"} <= set(pages["files/bench/index.html"].links)
    # the nav does not name it, and has it
    assert "unlisted.html" in pages["index.html"].links


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("../nothing.md", "nothing.md"),
        ("method.md#nowhere", "#nowhere"),
        ("../src/mtsp_ldp/nothing.py", "nothing"),
    ],
)
def test_a_link_to_nothing_stops_the_build(small, tmp_path, link, words):
    (small / "docs/findings.md").write_text(f"# Findings\n\n[text]({link})\n")
    done = build(tmp_path / "site", small)
    assert done.returncode != 0
    assert any("WARNING" in line and words in line for line in done.stderr.splitlines()), done.stderr
