"""The shape of the package: few rooms at the top, short functions, no word of the workshop."""

import ast

from clones import ROOT

SOURCES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "tools").glob("*.py"))]


def functions():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def test_the_top_of_the_package_is_a_list_that_one_reads_at_once():
    found = [path for path in (ROOT / "src/mtsp_ldp").iterdir() if path.name != "__pycache__"]
    assert len(found) <= 14, sorted(path.name for path in found)


def test_no_function_is_longer_than_forty_lines_beside_its_docstring():
    long = []
    for path, node in functions():
        text = ast.get_docstring(node, clean=False) or ""
        length = node.end_lineno - node.lineno + 1 - len(text.splitlines())
        if length > 40:
            long.append((path.name, node.name, length))
    assert long == []


def test_every_folder_has_a_page_of_the_api_and_a_line_in_the_readme():
    folders = {path.parent.name for path in (ROOT / "src/mtsp_ldp").glob("*/__init__.py")}
    pages = {path.stem for path in (ROOT / "docs/api").glob("*.md")} - {"index"}
    assert pages == folders
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    layout = readme.partition("    src/mtsp_ldp/\n")[2].partition("    docs/")[0]
    assert {name for name in folders if f"{name}/" in layout} == folders
