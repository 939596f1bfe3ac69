"""Text in blocks of whole rows: where a file is cut, so that a part of it fits into memory."""

import codecs
from collections.abc import Callable, Iterator
from typing import IO

BATCH = 1 << 26
"""Bytes of text read at once."""
LONGEST = 100
"""Lines that one field may span."""
Text = IO[bytes] | codecs.StreamRecoder


def first_row(file: Text, most: int) -> str:
    """Read a header, which a quoted name may spread over several lines."""
    first = file.readline()
    for _ in range(most - 1):
        if first.count(b'"') % 2 == 0:
            break
        first += file.readline()
    return first.decode("utf-8", "replace")


def unmarked(start: bytes) -> bytes:
    """Take a byte order mark away from the start of a text."""
    return start.removeprefix(codecs.BOM_UTF8)


def blocks(file: Text, rest: bytes, is_row: Callable[[bytes], bool] | None) -> Iterator[bytes]:
    """Read on in blocks of whole lines; where fields span lines, a block ends behind a line that is a row."""
    block = file.read(BATCH)
    while block:
        rest += block
        block = file.read(BATCH)
        cut = rest.rfind(b"\n") + 1
        if is_row is not None:
            cut = _end_of_row(rest, cut, is_row) if block else len(rest)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        yield rest


def _end_of_row(text: bytes, last: int, is_row: Callable[[bytes], bool]) -> int:
    """Find the end of the last line that is a row of its own; of the last line, where long there is none."""
    end = last
    for _ in range(LONGEST):
        start = text.rfind(b"\n", 0, max(end - 1, 0)) + 1
        if is_row(text[start:end]):
            return end
        if start == 0:
            return 0
        end = start
    return last
