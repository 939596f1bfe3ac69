"""Names of users and cells: one text for each, whatever the type of the column."""

import re
from collections.abc import Sequence

import polars as pl

from mtsp_ldp.streams.facts import MOST_CELLS

MISSING = [
    *("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "Null", "NAN"),
    *("<NA>", "NaT", "None", "none", r"\N", "-", "?"),
]
"""Texts that stand for a missing value."""
_WHOLE = r"^([+-]?\d+)\.0*$"
_EXACT = {"Float32": 2.0**24, "Float64": 2.0**53}
"""Integers up to which each float is one."""


def text_of(column: str, dtype: pl.DataType) -> pl.Expr:
    """Write a column as text, without blanks at its ends; whole numbers as integers, whatever their type."""
    value = pl.col(column)
    if dtype.is_float():
        whole = value.is_finite() & (value == value.floor()) & (value.abs() < 2.0**63)
        integer = pl.when(whole).then(value).cast(pl.Int64, strict=False).cast(pl.String)
        return pl.coalesce(integer, pl.when(value.is_not_nan()).then(value.cast(pl.String)))
    text = value.cast(pl.String).str.strip_chars()
    return text.str.replace(_WHOLE, "$1") if dtype.is_decimal() else text


def refuse_merged(name: str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse floats among names from where on several integers are one float.

    Raises
    ------
    ValueError
        Naming the file, the column and the first of them.
    """
    for column in columns:
        if rows.schema[column].is_float():
            exact = _EXACT[str(rows.schema[column])]
            large = rows[column].filter(rows[column].is_finite() & (rows[column].abs() > exact))
            if len(large):
                raise ValueError(
                    f"{name}: column {column!r}: {large[0]!r}: must be text or an integer; as "
                    f"{rows.schema[column]} several names above {exact:.0f} are one"
                )


def same(name: str) -> str:
    """Write a name as `name_of` does: 12.0 is 12."""
    return re.sub(_WHOLE, r"\1", name)


def name_of(text: pl.Expr, missing: Sequence[str]) -> pl.Expr:
    """Read the name of a user or a cell: 12.0 is 12, and the marks of a missing value are none."""
    name = text.str.replace(_WHOLE, "$1")
    return pl.when(~text.is_in(list(missing)) & ~name.is_in(list(missing))).then(name)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise ValueError for a list of cells that is too long, or names one badly or twice."""
    if len(names) > MOST_CELLS:
        raise ValueError(f"{source}: {len(names):,} names: must be at most {MOST_CELLS:,} cells")
    seen: dict[str, str] = {}
    for name in names:
        if name != name.strip() or not name:
            raise ValueError(f"{source}: {name!r}: must be a name, without blanks at its ends")
        first = seen.get(same(name))
        if first is not None:
            twice = "is there twice" if first == name else f"and {first!r} are one name"
            raise ValueError(f"{source}: {name!r} {twice}: must be different names")
        seen[same(name)] = name
