"""Delimited text as polars frames of strings, in batches: whatever its size, a few hundred megabytes at most.

Every line is a row, well or badly formed: what cannot be read comes out as nulls, to be counted. Where fields
may span lines, lines that make one row of the right width together are one.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any

import polars as pl

from mtsp_ldp.datasets.ingest.blocks import BATCH, LONGEST, blocks, first_row, unmarked

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
    aliases: Mapping[str, str] | None = None,
    spanning: bool = False,
) -> Iterator[pl.DataFrame]:
    """Read the rows of a text as frames of strings.

    Parameters
    ----------
    file
        The text, as bytes; line ends LF or CR LF.
    columns
        Names of all columns by position; None takes them from the first line, and no names numbers them from
        1 on.
    name
        Name of the file, for errors.
    wanted
        The columns to keep; all by default.
    separator, quote, encoding
        Separator of fields, quote character and encoding; without a quote character quotes are ordinary.
    skip
        Lines before the first row that are no rows.
    aliases
        Other names that a first line may give to wanted columns.
    spanning
        True if a field in quotes may span lines.

    Yields
    ------
    DataFrame
        A batch of rows, with nulls where a line lacks a field; a line with too many is all null.

    Raises
    ------
    ValueError
        Naming the file and a wanted column that it lacks, or that holds bytes of another encoding.
    """
    try:
        yield from _rows(
            file if encoding == "utf-8" else codecs.EncodedFile(file, "utf-8", encoding),
            columns,
            name,
            wanted,
            separator=separator,
            quote=quote,
            skip=skip,
            aliases=aliases or {},
            spanning=spanning,
        )
    except UnicodeError as error:
        raise ValueError(f"{name}: must be text in {encoding} ({error})") from None


def _rows(
    file: IO[bytes] | codecs.StreamRecoder,
    columns: Sequence[str] | None,
    name: str,
    wanted: Sequence[str],
    *,
    separator: str,
    quote: str | None,
    skip: int,
    aliases: Mapping[str, str],
    spanning: bool,
) -> Iterator[pl.DataFrame]:
    for _ in range(skip):
        file.readline()
    begin: list[bytes] = []
    if columns is None:
        header = _header(first_row(file, LONGEST if spanning else 1), name, separator)
        columns = [aliases.get(column, column) for column in header]
    elif columns:
        begin = [unmarked(file.read(len(codecs.BOM_UTF8)))]
    else:
        begin = list(islice(iter(file.readline, b""), LONGEST))
        begin[:1] = map(unmarked, begin[:1])
        most = max((len(_split(line, separator, quote)) for line in begin), default=0)
        columns = [str(place) for place in range(1, most + 1)]
    width = len(columns)

    def is_row(line: bytes) -> bool:
        return len(_split(line, separator, quote)) == width and line.count(b'"') % 2 == 0

    columns = _wanted(columns, wanted, name)
    for text in blocks(file, b"".join(begin), is_row if spanning else None):
        frame = _parsed(text, columns, separator, quote, spanning=spanning)
        rows = frame.select(_kept(column, quote) for column in wanted or columns)
        if wanted:
            _refuse_other_encodings(text, rows, name)
        yield rows


def _kept(column: str, quote: str | None) -> pl.Expr:
    """Keep a column of the rows that have not too many fields."""
    good = pl.col(_OVER).is_null()
    # polars takes an empty field for null, but not an empty one in quotes
    return pl.when(good & (pl.col(column) != "") if quote else good).then(pl.col(column)).alias(column)


def _wanted(columns: Sequence[str], wanted: Sequence[str], name: str) -> Sequence[str]:
    """Check that wanted columns are there once; others may have any name, even the same one twice."""
    for column in wanted:
        if columns.count(column) != 1:
            there = ", ".join(map(repr, columns)) or "none"
            fault = "is there twice" if column in columns else "is missing"
            hint = "; it is no UTF-8: encoding must say what it is" if "\ufffd" in there else ""
            raise ValueError(f"{name}: column {column!r} {fault}; there are {there}{hint}")
    if not wanted:
        return columns
    return [column if column in wanted else f"\0{place}" for place, column in enumerate(columns)]


def _refuse_other_encodings(text: bytes, rows: pl.DataFrame, name: str) -> None:
    """Refuse columns with bytes that are no UTF-8: what replaces them would make one user of two."""
    try:
        text.decode()
    except UnicodeDecodeError:
        for column in rows.columns:
            lossy = rows[column].filter(rows[column].str.contains("\ufffd", literal=True))
            if len(lossy):
                raise ValueError(
                    f"{name}: column {column!r}: {lossy[0]!r}: must be UTF-8, or encoding must say what it is"
                ) from None


def _header(line: str, name: str, separator: str) -> list[str]:
    """Read the names in a first line."""
    if "\0" in line:
        raise ValueError(f"{name}: its first line holds NUL bytes; save it as UTF-8 text")
    try:
        text = io.StringIO(line.removeprefix("\ufeff").strip("\r\n"), newline="")
        return next(csv.reader(text, delimiter=separator), [])
    except csv.Error as error:
        raise ValueError(f"{name}: its first line is no header ({error})") from None


def _parsed(
    text: bytes, columns: Sequence[str], separator: str, quote: str | None, *, spanning: bool
) -> pl.DataFrame:
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
        return _line_by_line(text, schema, separator, quote, spanning=spanning)
    return frame


def _line_by_line(
    text: bytes, schema: dict[str, Any], separator: str, quote: str | None, *, spanning: bool
) -> pl.DataFrame:
    """Parse line by line, slowly: a stray quote costs its line only."""
    lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n")
    width, rows, place = len(schema), [], 0
    while place < len(lines):
        row, taken = _fields(lines[place].rstrip("\r"), separator, quote), 1
        if spanning and quote and lines[place].count(quote) % 2:
            row, taken = _joined(lines[place : place + LONGEST], separator, quote, width - 1) or (row, 1)
        rows.append([*row[:width], *[None] * (width - len(row))])
        place += taken
    return pl.DataFrame(rows, schema=schema, orient="row")


def _joined(lines: list[str], separator: str, quote: str, width: int) -> tuple[list[str], int] | None:
    """Read lines that are one row together, by the letter of the format; None if they are not."""
    quotes = 0
    for taken, line in enumerate(lines, start=1):
        quotes += line.count(quote)
        if quotes % 2 == 0:
            text = io.StringIO("\n".join(lines[:taken]).rstrip("\r"), newline="")
            try:
                rows = list(csv.reader(text, delimiter=separator, quotechar=quote, strict=True))
            except csv.Error:
                return None
            return (rows[0], taken) if len(rows) == 1 and len(rows[0]) == width else None
    return None


def _split(line: bytes, separator: str, quote: str | None) -> list[str]:
    return _fields(line.decode("utf-8", "replace").rstrip("\r\n"), separator, quote)


def _fields(line: str, separator: str, quote: str | None) -> list[str]:
    if quote is None:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, quotechar=quote), [])
    except csv.Error:
        return []


def gathered(frames: Iterable[pl.DataFrame], most: int = BATCH) -> Iterator[pl.DataFrame]:
    """Gather rows of the same columns into fewer frames, of about ``most`` bytes each."""
    waiting: list[pl.DataFrame] = []
    size = 0.0
    for frame in frames:
        if waiting and (size >= most or frame.schema != waiting[0].schema):
            yield pl.concat(waiting)
            waiting, size = [], 0.0
        waiting.append(frame)
        size += frame.estimated_size()
    if waiting:
        yield pl.concat(waiting)
