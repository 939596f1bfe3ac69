"""Hooks of MkDocs, so that one text serves the repository and the site.

The README, the manual of the config and the like stand outside of docs/ and become pages; a link that leaves
docs/ leads to the page, to the module's part of the API, or to a copy of the file, in this order (of a
folder, to its README). A link to nothing stops the build, as every warning does. On pages of the API,
``::: package.*`` means the modules of a package that no page names.
"""

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "config/README.md": "config.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files of the repository that are pages too."""
COPIES = "files/"
"""Folder of the site for files that are linked to and are neither pages nor modules."""
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$|^(?: {4}|\t)[^\n]*$|`[^`\n]*`", re.M | re.S)
_REST = re.compile(r"^::: (\S+)\.\*$", re.M)
_log = logging.getLogger("mkdocs.hooks.links")


def on_config(config: Any) -> Any:
    """Enter pages of docs/ that the nav does not name, before the API."""
    named = {page for entry in config.nav for page in entry.values() if isinstance(page, str)}
    found = sorted(path.name for path in Path(config.docs_dir).glob("*.md"))
    place = next(i for i, entry in enumerate(config.nav) if "API" in entry)
    config.nav[place:place] = [name for name in found if name not in named]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand elsewhere, and every file that a link needs."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    todo = list(files.documentation_pages())
    while todo:
        page = todo.pop()
        for found in _links(Path(str(page.abs_src_path)).read_text(encoding="utf-8")):
            target = _resolve(found["target"], page.src_uri)
            copy = f"{COPIES}{target}"
            if target and _is_plain(target) and files.get_file_from_path(copy) is None:
                source = str(ROOT / target)
                file = File.generated(config, copy, abs_src_path=source, inclusion=InclusionLevel.NOT_IN_NAV)
                files.append(file)
                if file.is_documentation_page():
                    todo.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    source = page.file.src_uri
    if source.startswith("api/"):
        markdown = _REST.sub(lambda found: _rest(found[1]), markdown)

    def turned(found: re.Match[str]) -> str:
        target = _resolve(found["target"], source)
        if target is None:
            return found[0]
        anchor = found["target"].partition("#")[2]
        if not (ROOT / target).exists():
            _log.warning("%s: link to %s, which does not exist", source, target)
        if target.startswith("src/") and target.endswith(".py"):
            return f"[{found['text']}][{_module(target)}]"
        if (ROOT / target).is_dir():
            return str(found["text"])  # a folder has no page
        there = PAGES.get(target) or (target[5:] if target.startswith("docs/") else f"{COPIES}{target}")
        link = posixpath.relpath(there, posixpath.dirname(source) or ".")
        return f"{found['image']}[{found['text']}]({link}{'#' + anchor if anchor else ''})"

    code = [range(*match.span()) for match in _CODE.finditer(markdown)]
    # a link's text may hold code, so only what begins within code is code
    return _LINK.sub(
        lambda match: match[0] if any(match.start() in part for part in code) else turned(match), markdown
    )


def _links(markdown: str) -> list[re.Match[str]]:
    code = [range(*match.span()) for match in _CODE.finditer(markdown)]
    return [match for match in _LINK.finditer(markdown) if not any(match.start() in part for part in code)]


def _resolve(target: str, page: str) -> str | None:
    """Find the file of the repository that a relative link of a page points to; None for other links."""
    path = target.partition("#")[0]
    if not path or "://" in path or path.startswith(("/", "mailto:")):
        return None
    origin = {name: source for source, name in PAGES.items()}.get(page, f"docs/{page}")
    if page.startswith(COPIES):
        origin = page.removeprefix(COPIES)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
    return f"{target}/README.md" if (ROOT / target / "README.md").is_file() else target


def _is_plain(target: str) -> bool:
    """Whether a file can only be copied."""
    return (
        not (
            target in PAGES
            or target.startswith("docs/")
            or (target.startswith("src/") and target.endswith(".py"))
        )
        and (ROOT / target).is_file()
    )


def _module(path: str) -> str:
    """Name the module of a source file."""
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _rest(package: str) -> str:
    """Entries for the modules of a package that no page of the API names."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/api").glob("*.md"))
    named = set(re.findall(r"^::: (\S+)$", text, re.M))
    found = sorted((ROOT / "src" / package.replace(".", "/")).glob("[a-z]*.py"))
    modules = [f"{package}.{path.stem}" for path in found]
    return "\n\n".join(f"::: {module}" for module in modules if module not in named)
