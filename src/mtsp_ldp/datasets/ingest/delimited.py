"""Delimited text as polars frames of strings, in batches: whatever its size, a few hundred megabytes at most.

Every line is a row, well or badly formed: what cannot be read comes out as nulls, to be counted.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import polars as pl

BATCH = 1 << 26
"""Bytes of text read at once."""
_OVER = "more than it should have"


def delimited(
    file: IO[bytes],
    columns: Sequence[str] | None,
    *,
    name: str,
    wanted: Sequence[str] = (),
    separator: str = ",",
    quote: str | None = None,
    encoding: str = "utf-8",
    skip: int = 0,
) -> Iterator[pl.DataFrame]:
    """Read the rows of a text as frames of strings.

    Parameters
    ----------
    file
        The text, as bytes; line ends LF or CR LF.
    columns
        Names of all columns by position; None takes them from the first line.
    name
        Name of the file, for errors.
    wanted
        The columns to keep; all by default.
    separator, quote, encoding
        Separator of fields, quote character and encoding; without a quote character quotes are ordinary.
    skip
        Lines before the first row that are no rows.

    Yields
    ------
    DataFrame
        A batch of rows, with nulls where a line lacks a field; a line with too many is all null.

    Raises
    ------
    ValueError
        Naming the file and a wanted column that it lacks.
    """
    for _ in range(skip):
        file.readline()
    if columns is None:
        columns = _header(file.readline().decode(encoding, "replace"), name, separator)
    for column in wanted:
        if columns.count(column) != 1:
            there = ", ".join(map(repr, columns)) or "none"
            fault = "is there twice" if column in columns else "is missing"
            raise ValueError(f"{name}: column {column!r} {fault}; there are {there}")
    if wanted:  # other columns may have any name, even the same one twice
        columns = [name if name in wanted else f"\0{place}" for place, name in enumerate(columns)]
    for text in _chunks(file):
        if encoding != "utf-8":
            text = text.decode(encoding).encode()
        frame = _parsed(text, columns, separator, quote)
        bad = pl.col(_OVER).is_not_null()
        yield frame.select(pl.when(~bad).then(pl.col(column)).alias(column) for column in wanted or columns)


def _header(line: str, name: str, separator: str) -> list[str]:
    """Read the names in a first line."""
    if "\0" in line:
        raise ValueError(f"{name}: its first line holds NUL bytes; save it as UTF-8 text")
    try:
        return next(csv.reader([line.removeprefix("\ufeff").strip("\r\n")], delimiter=separator), [])
    except csv.Error as error:
        raise ValueError(f"{name}: its first line is no header ({error})") from None


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Read the file in blocks of whole lines."""
    rest = b""
    while block := file.read(BATCH):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
    if rest:
        yield rest


def _parsed(text: bytes, columns: Sequence[str], separator: str, quote: str | None) -> pl.DataFrame:
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys([*columns, _OVER], pl.String)
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    try:
        # the first line tells polars how many fields there are: one of ours, with none in them
        frame = pl.read_csv(
            separator.encode() * len(columns) + b"\n" + text,
            has_header=False,
            schema=schema,
            separator=separator,
            quote_char=quote,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            missing_columns="insert",
        )[1:]
    except pl.exceptions.PolarsError:
        frame = pl.DataFrame(schema=schema)
    if frame.height != lines:  # a stray quote took other lines with it
        frame = _line_by_line(text, schema, separator, quote)
    # polars takes an empty field for null, but not an empty one in quotes
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())) if quote else frame


def _line_by_line(text: bytes, schema: dict[str, Any], separator: str, quote: str | None) -> pl.DataFrame:
    """Parse line by line, slowly: a stray quote costs its line only."""
    lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n")
    width, rows = len(schema), []
    for line in lines:
        row = _fields(line.rstrip("\r"), separator, quote)
        rows.append([*row[:width], *[None] * (width - len(row))])
    return pl.DataFrame(rows, schema=schema, orient="row")


def _fields(line: str, separator: str, quote: str | None) -> list[str]:
    if quote is None:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, quotechar=quote), [])
    except csv.Error:
        return []


def gathered(frames: Iterable[pl.DataFrame], rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
    """Gather rows into fewer frames, of about ``rows`` rows each."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) >= rows:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)
