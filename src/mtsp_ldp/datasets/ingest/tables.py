"""Tables of a user's own: delimited text and lines of JSON as columns of text, parquet as it is."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated

import polars as pl
from pydantic import AfterValidator

from mtsp_ldp.datasets.ingest.delimited import delimited

_ROWS = 1_000_000
_JSON = (".ndjson", ".jsonl")


def _check_separator(separator: str) -> str:
    if len(separator.encode()) != 1 or separator in '"\r\n':
        raise ValueError("must be one character, and no quote or end of a line")
    return separator


def _check_encoding(name: str) -> str:
    try:
        "text".encode(name)  # codecs from bytes to bytes are none of text
        return codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        raise ValueError("must be the name of an encoding, as utf-8 or latin-1") from None


Separator = Annotated[str, AfterValidator(_check_separator)]
"""Separator of fields."""
Encoding = Annotated[str, AfterValidator(_check_encoding)]
"""Name of an encoding of text."""


@dataclass(frozen=True)
class Layout:
    """How delimited text is laid out.

    Attributes
    ----------
    separator
        Separator of fields; None is a tab in ``.tsv`` and a comma elsewhere.
    header
        True if the first line names the columns; else their names are their numbers, from 1 on.
    encoding
        Encoding of the text.
    """

    separator: str | None = None
    header: bool = True
    encoding: str = "utf-8"


def read_table(
    name: str, file: IO[bytes], wanted: Sequence[str], layout: Layout = Layout()
) -> Iterator[pl.DataFrame]:
    """Read columns of a table, in batches; its name tells what kind of file it is.

    Raises
    ------
    ValueError
        Naming the file, and the column that it lacks or whose type is no text, number or time.
    """
    kind = Path(name).suffix.lower()
    if kind == ".parquet":
        if getattr(file, "name", None) != name:
            raise ValueError(f"{name}: a parquet in an archive; unpack it")
        yield from _parquet(name, wanted)
    elif kind in _JSON:
        yield from _lines_of_json(file, wanted, name, layout.encoding)
    else:
        yield from delimited(
            file,
            None if layout.header else [],
            name=name,
            wanted=wanted,
            separator=layout.separator or ("\t" if kind == ".tsv" else ","),
            quote='"',
            encoding=layout.encoding,
            spanning=True,
        )


def _lines_of_json(
    file: IO[bytes], wanted: Sequence[str], name: str, encoding: str
) -> Iterator[pl.DataFrame]:
    """Read an object a line; ``$.place.lat`` is a value inside another."""
    paths = {key: key if key.startswith("$") else f'$["{key}"]' for key in wanted}
    for key, path in paths.items():
        try:
            pl.select(pl.lit("{}").str.json_path_match(path))
        except pl.exceptions.PolarsError:
            raise ValueError(
                f"columns: {key!r}: must be the name of a value, or a path as $.place.lat"
            ) from None
    rows = delimited(file, ["line"], name=name, wanted=["line"], separator="\x1f", encoding=encoding)
    for number, frame in enumerate(rows):
        if number == 0:
            _check_lines(name, frame["line"].drop_nulls().str.strip_chars())
        yield frame.select(
            _exact(pl.col("line"), pl.col("line").str.json_path_match(path)).alias(key)
            for key, path in paths.items()
        )


def _check_lines(name: str, lines: pl.Series) -> None:
    """Refuse JSON that is laid out over several lines, or all in one list."""
    if len(lines) and not (lines.str.starts_with("{") & lines.str.ends_with("}")).any():
        parts = ".[]" if lines[0].startswith("[") else "."
        raise ValueError(
            f"{name}: must hold an object a line; `jq -c '{parts}' {name} > rows.ndjson` makes it so"
        )


def _exact(line: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Take a value of JSON unless it is a number too long to be read exactly: it would be another one."""
    number = value.cast(pl.Float64, strict=False)
    integer = (
        value.cast(pl.UInt64, strict=False).is_not_null() | value.cast(pl.Int64, strict=False).is_not_null()
    )
    rounded = (number.abs() > 2.0**53) & ~integer & ~line.str.contains('"' + value + '"', literal=True)
    return pl.when(~rounded.fill_null(value=False)).then(value)


def _parquet(name: str, wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
    try:
        table = pl.scan_parquet(name, glob=False)
        schema = table.collect_schema()
        height = table.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{Path(name).name}: not a whole file of its kind ({_line(error)})") from None
    for column in wanted:
        if column not in schema.names():
            there = ", ".join(map(repr, schema.names()))
            raise ValueError(f"{name}: column {column!r} is missing; there are {there}")
        if not _is_plain(schema[column]):
            shapes = "; of shapes `ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv` makes columns X and Y"
            raise ValueError(
                f"{name}: column {column!r}: {schema[column]}: must be text, a number or a time"
                f"{shapes if schema[column] == pl.Binary else ''}"
            )
    for start in range(0, height, _ROWS):
        try:
            yield table.select(wanted).slice(start, _ROWS).collect()
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{Path(name).name}: not a whole file of its kind ({_line(error)})") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _is_plain(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (
        pl.String,
        pl.Categorical,
        pl.Enum,
        pl.Date,
        pl.Datetime,
        pl.Time,
        pl.Null,
    )


def check_columns(names: Sequence[str]) -> None:
    """Raise ValueError for names that would stand for several columns."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise ValueError(f"columns: {name!r}: must be the name of one column: rename it")


def with_text(records: pl.DataFrame, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Keep the text of the rows that could not be read, for messages."""
    bad = records.select(pl.any_horizontal(pl.exclude("reason").is_null())).to_series()
    if not bad.any():
        return records.with_columns(read=pl.lit(None, pl.String))
    parts = [pl.lit(f"{column} ") + pl.col(column).cast(pl.String).fill_null("nothing") for column in columns]
    text = rows.filter(bad).select(pl.concat_str(parts, separator=", ")).to_series()
    place = pl.when(bad).then(bad.cast(pl.Int64).cum_sum() - 1)
    return records.with_columns(read=text.gather(pl.select(place).to_series()))


def is_number(name: str) -> bool:
    """Tell whether the name of a column is its number."""
    return re.fullmatch(r"[1-9]\d*", name) is not None
