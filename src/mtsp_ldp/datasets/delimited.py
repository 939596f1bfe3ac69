"""Delimited text as polars frames of strings, in batches: whatever its size, a few hundred megabytes at most.

Every line is a row, well or badly formed: what cannot be read comes out as nulls, to be counted.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

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
    """Rows of a text as frames of strings.

    Parameters
    ----------
    file
        The text, as bytes; line ends LF or CR LF.
    columns
        Names of all columns by position; None takes them from the first line.
    name
        Of the file, for errors.
    wanted
        The columns to keep; all by default.
    separator, quote, encoding
        As in the file; without a quote character quotes are ordinary.
    skip
        Lines before the first row that are no rows.

    Yields
    ------
    A frame a batch, with nulls where a line lacks a field; a line with too many is all null.

    Raises
    ------
    ValueError
        Naming the file and a wanted column that it lacks.
    """
    for _ in range(skip):
        file.readline()
    if columns is None:
        header = file.readline().decode(encoding, "replace").removeprefix("\ufeff").strip("\r\n")
        columns = next(csv.reader([header], delimiter=separator), [])
    for column in wanted:
        if column not in columns:
            raise ValueError(
                f"{name}: column {column!r} is missing; there are {', '.join(columns) or 'none'}"
            )
    for text in _chunks(file):
        if encoding != "utf-8":
            text = text.decode(encoding).encode()
        frame = _parsed(text, columns, separator, quote)
        bad = pl.col(_OVER).is_not_null()
        yield frame.select(pl.when(~bad).then(pl.col(column)).alias(column) for column in wanted or columns)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines."""
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
    try:
        return pl.read_csv(
            text,
            has_header=False,
            schema=schema,
            separator=separator,
            quote_char=quote,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            missing_columns="insert",
        )
    except pl.exceptions.ComputeError:
        # a stray quote: line by line, so that it costs its own line only
        lines = io.StringIO(text.decode("utf-8", "replace")).read().splitlines()
        rows = [next(csv.reader([line], delimiter=separator, quotechar=quote), []) for line in lines]
        width = len(columns)
        fields = [[*row[: width + 1], *[None] * (width + 1 - len(row))] for row in rows]
        return pl.DataFrame(fields, schema=schema, orient="row").with_columns(
            pl.when(pl.all() != "").then(pl.all())
        )


def gathered(frames: Iterable[pl.DataFrame], rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
    """The same rows in fewer frames, of about so many rows each."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(map(len, held)) >= rows:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)
