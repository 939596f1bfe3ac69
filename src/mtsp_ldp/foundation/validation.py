"""Errors of pydantic in one line: the key, its value, and what it must be."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

_ALLOWED = "Input should be "
_PLAINLY = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
    "Keys should be strings": "must be text",
    "a valid string": "text; a name that looks like a number needs quotes",
    "a valid dictionary": "names and values",
    "a valid": "a",
    "a integer": "an integer",
    "a boolean": "true or false",
    "List should have at least 1 item after validation, not 0": "must be a list of at least one",
    "Dictionary should have at least 1 item after validation, not 0": "must hold at least one option",
    "String should match pattern": "must match",
}
"""Plainer words for those of pydantic."""
_LONGEST = 120
_PART_OF_UNION = re.compile(r"(literal|list|function-\w+)\[.*\]|constrained-\w+|int|float|str|bool|none")
"""Names by which pydantic tells the parts of a union, at the end of a place."""


def check_name(name: str) -> str:
    """Refuse a name that cannot be one of a file, a word of a command line and a part of a path at once."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        raise ValueError("must be a name of letters a to z, digits, _ and -, beginning with no -")
    return name


def explain(error: ValidationError, label: str, allowed: Iterable[str]) -> str:
    """Say what is wrong with values, in one line.

    Parameters
    ----------
    error
        Error of pydantic.
    label
        Beginning of the line: whose values they are.
    allowed
        Keys that exist.
    """
    faults: dict[str, str] = {}
    for one in error.errors(include_url=False):
        what, _, problem = _one(dict(one), list(allowed)).partition(": ")
        # one value that fits no part of a union
        faults[what] = f"{faults[what]}, or {problem.removeprefix('must be ')}" if what in faults else problem
    return label + "; ".join(f"{what}: {problem}" if problem else what for what, problem in faults.items())


def _one(fault: dict[str, Any], allowed: list[str]) -> str:
    key, value, message = _key(fault["loc"]), fault["input"], str(fault["msg"])
    if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{key}: unknown key; allowed: {', '.join(allowed) or 'none'}"
    if fault["type"] in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return f"{key}: missing"
    if fault["type"] == "value_error":  # of a validator of our own; one of a whole model names the key itself
        problem = str(fault["ctx"]["error"])
        return f"{key}={_short(value)}: {problem}" if key else problem
    if fault["type"] == "literal_error":
        return f"{key}={value!r}: must be one of {_plain(fault['ctx']['expected'])}"
    if fault["type"] == "too_long":
        message = "must be at most {max_length:,} entries, not {actual_length:,}".format(**fault["ctx"])
    if message.startswith(_ALLOWED):
        message = f"must be {message.removeprefix(_ALLOWED)}"
    for theirs, ours in _PLAINLY.items():
        message = message.replace(theirs, ours)
    return f"{key}={_short(value)}: {message}"


def _short(value: object) -> str:
    """Write a value, the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _plain(expected: str) -> str:
    """Strip the quotes of a list of choices."""
    return expected.replace("'", "").replace(" or ", ", ")


def _key(place: tuple[int | str, ...]) -> str:
    """Write a place as in ``epsilon[0]``, ``files[1].name``."""
    text = ""
    for part in place[:-1] if place and _PART_OF_UNION.fullmatch(str(place[-1])) else place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
