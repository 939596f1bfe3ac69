"""What a person wrote, and what yaml or Hydra would take it for: NO for false, 010 for 8, 12:30 for 750."""

import re
from collections.abc import Iterator

import yaml

_USUAL = {
    "bool": re.compile(r"true|false", re.IGNORECASE),
    "int": re.compile(r"0|-?[1-9][0-9]*"),
    "float": re.compile(
        r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?\.inf|\.nan", re.IGNORECASE
    ),
}
"""How anybody would write a truth value, an integer and a fraction."""
_UNDERLINED = re.compile(r"(?<![\w.'\"])(?:[+-]?\d+_[\d_]*|\+\d+|-0)(?![\w.'\"])")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def refuse_misread(text: str) -> None:
    """Refuse a yaml in which an entry without quotes is not read as it is written.

    Truth values other than true and false, and integers with leading zeros, underlines, colons or another
    base are either names or mistakes. Plain numbers stay numbers; a key of text refuses them.

    Raises
    ------
    ValueError
        With the line, the entry and what it would be taken for.
    """
    for node in _scalars(yaml.compose(text, Loader=_LOADER)):
        usual = _USUAL.get(node.tag.rpartition(":")[2])
        if usual is not None and not node.style and not usual.fullmatch(node.value):
            raise ValueError(
                f"line {node.start_mark.line + 1}: {node.value} without quotes is "
                f"{yaml.safe_load(node.value)!r}: write '{node.value}' if it is a name"
            )


def number(text: str) -> int | float | None:
    """Read a number as anybody would write it; None for other text, as 007, 1_000 or 12:30."""
    if _USUAL["int"].fullmatch(text):
        return int(text)
    if _USUAL["float"].fullmatch(text) and not text.startswith("+"):
        return float(re.sub(r"\.(?=nan|inf)", "", text.lower()))
    return None


def _scalars(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.CollectionNode):
        for entry in node.value:
            for part in entry if isinstance(entry, tuple) else (entry,):
                yield from _scalars(part)


def underlined(word: str) -> str | None:
    """Find a number with underlines or a plus in a word: Hydra takes 2024_05 for 202405, and +5 for 5."""
    found = _UNDERLINED.search(word.partition("=")[2])
    return found.group() if found else None
