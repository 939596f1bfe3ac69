"""Raw files as byte streams: plain, gzipped, in a zip, in a zip in a zip; never unpacked on disk."""

import fnmatch
import os
from collections.abc import Iterator, Sequence
from gzip import GzipFile
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

ARCHIVES = (".zip", ".gz")


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether the last part of a path, without the suffix of an archive, matches one of the patterns.

    The case of letters does not count. Hidden files never match, nor does what macOS adds to archives.
    """
    if any(part.startswith((".", "__MACOSX")) for part in name.split("/") if part not in (".", "..")):
        return False
    last = name.lower().rpartition("/")[2]
    for suffix in ARCHIVES:
        last = last.removesuffix(suffix)
    return any(fnmatch.fnmatchcase(last, pattern.lower()) for pattern in patterns)


def matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """List files below a folder that match, and zips with members that do, sorted; without hidden ones."""
    found = []
    for root, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if matches(path.name, patterns) or _holds(path, patterns))


def _holds(path: Path, patterns: Sequence[str]) -> bool:
    if path.suffix.lower() != ".zip":
        return False
    try:
        with ZipFile(path) as archive:
            return any(matches(name, patterns) for name in archive.namelist())
    except BadZipFile:
        return False


def opened(path: Path, patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Open each matching file in a path, with its name: the file, its gzipped content, or zip members."""
    with path.open("rb") as file:
        yield from _within(str(path), file, patterns)


def _within(name: str, file: IO[bytes], patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    if name.lower().endswith(".zip"):
        with ZipFile(file) as archive:
            for member in sorted(archive.namelist()):
                if matches(member, patterns):
                    with archive.open(member) as inner:
                        yield from _within(member, inner, patterns)
    elif name.lower().endswith(".gz"):
        with GzipFile(fileobj=file) as inner:
            yield name[: -len(".gz")], inner  # type: ignore[misc]
    else:
        yield name, file
