"""Tables of a user's own: delimited text and lines of JSON as columns of text, parquet as it is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl

from mtsp_ldp.datasets.ingest.delimited import delimited

_ROWS = 1_000_000
_JSON = (".ndjson", ".jsonl")


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
    for frame in delimited(file, ["line"], name=name, wanted=["line"], separator="\x1f", encoding=encoding):
        yield frame.select(pl.col("line").str.json_path_match(path).alias(key) for key, path in paths.items())


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


_WHOLE = r"^([+-]?\d+)\.0*$"


def text_of(column: str, dtype: pl.DataType) -> pl.Expr:
    """Write a column as text, without blanks at its ends; whole numbers as integers, whatever their type."""
    value = pl.col(column)
    if dtype.is_float():
        whole = value.is_finite() & (value == value.floor()) & (value.abs() < 2.0**63)
        integer = pl.when(whole).then(value).cast(pl.Int64, strict=False).cast(pl.String)
        return pl.coalesce(integer, pl.when(value.is_not_nan()).then(value.cast(pl.String)))
    text = value.cast(pl.String).str.strip_chars()
    return text.str.replace(_WHOLE, "$1") if dtype.is_decimal() else text


def name_of(text: pl.Expr, missing: Sequence[str]) -> pl.Expr:
    """Read the name of a user or a cell: 12.0 is 12, and the marks of a missing value are none."""
    name = text.str.replace(_WHOLE, "$1")
    return pl.when(~text.is_in(list(missing)) & ~name.is_in(list(missing))).then(name)


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
