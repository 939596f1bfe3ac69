"""Raw files as byte streams: plain, compressed, in a zip, in a zip in a zip; never unpacked on disk."""

import fnmatch
import lzma
import os
import zlib
from bz2 import BZ2File
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from lzma import LZMAFile
from pathlib import Path, PurePath
from typing import IO
from zipfile import BadZipFile, ZipFile

COMPRESSED: Mapping[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda file: GzipFile(fileobj=file),  # type: ignore[dict-item,return-value]
    ".bz2": BZ2File,
    ".xz": LZMAFile,
}
"""Readers of compressed files by suffix."""
ARCHIVES = (".zip", *COMPRESSED)
DAMAGE = (BadZipFile, BadGzipFile, EOFError, zlib.error, lzma.LZMAError)
"""What reading an archive raises that is torn or none."""


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether the last part of a path, with the suffix of an archive or without, matches a pattern.

    The case of letters does not count. Hidden files never match, nor does what macOS adds to archives.
    """
    if any(part.startswith((".", "__MACOSX")) for part in name.split("/") if part not in (".", "..")):
        return False
    last = name.lower().rpartition("/")[2]
    names = {last, _plain(last)}
    forms = {form for pattern in patterns for form in (pattern.lower(), _plain(pattern.lower()))}
    return any(fnmatch.fnmatchcase(one, form) for one in names for form in forms)


def _plain(name: str) -> str:
    """Take the suffixes of archives away, unless nothing but a suffix would be left."""
    plain = name
    for suffix in ARCHIVES:
        plain = plain.removesuffix(suffix)
    return plain if "." in plain else name


def matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """List files below a folder that match, and zips with members that do, sorted; without hidden ones."""
    found = []
    for root, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(path for path in found if matches(path.name, patterns) or _holds(path, patterns))


_CONVERTERS = {
    ".zst": "zstd -d {name}",
    ".7z": "7z x {name}",
    ".rar": "unrar x {name}",
    ".tar": "tar -xf {name}",
    ".tgz": "tar -xf {name}",
    ".xlsx": "ssconvert {name} rows.csv",
    ".xls": "ssconvert {name} rows.csv",
    ".gpx": "ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv {name} track_points",
    ".kml": "ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv {name}",
    ".geojson": "ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv {name}",
    ".gpkg": "ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv {name}",
    ".shp": "ogr2ogr -f CSV -lco GEOMETRY=AS_XY rows.csv {name}",
    "records.json": (
        "jq -c '.locations[] | {time: .timestamp, x: (.longitudeE7 / 1e7), y: (.latitudeE7 / 1e7)}' {name} "
        "> rows.ndjson"
    ),
    ".json": "jq -c '.[]' {name} > rows.ndjson",
    ".feather": "python -c \"import polars; polars.read_ipc('{name}').write_parquet('rows.parquet')\"",
    ".csv": "other names are read",
    ".tsv": "other names are read",
    ".txt": "other names are read",
    ".ndjson": "other formats read it",
    ".jsonl": "other formats read it",
    ".parquet": "other formats read it",
}
"""Commands that make a kind of file readable."""


def unread(folder: Path, patterns: Sequence[str]) -> list[str]:
    """List files below a folder that may be data and match no pattern, each with what makes it readable."""
    lines = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        inner = [part.lower() for part in path.suffixes if part.lower() not in ARCHIVES]
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or matches(path.name, patterns) or _holds(path, patterns):
            continue
        how = _CONVERTERS.get(path.name.lower()) or _CONVERTERS.get(inner[-1] if inner else "")
        how = how or "no kind of file that is read"
        if path.name != "receipt.json" and not _tells(path):
            lines.append(f"{path.name} ({how.replace('{name}', path.name)})")
    return lines


def _tells(path: Path) -> bool:
    """Tell whether a file speaks of the data and holds none."""
    told = path.suffix.lower() in (".md", ".pdf", ".html", ".doc", ".docx", ".rst", ".rtf", ".png", ".jpg")
    return told or path.stem.lower() in ("readme", "licence", "license", "terms", "about")


def _holds(path: Path, patterns: Sequence[str]) -> bool:
    if path.suffix.lower() != ".zip":
        return False
    try:
        with ZipFile(path) as archive:
            return any(matches(name, patterns) for name in archive.namelist())
    except BadZipFile:
        return True  # it may; reading it says what is wrong


def opened(path: Path, patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Open each matching file in a path, with its name: the file, its gzipped content, or zip members."""
    with path.open("rb") as file:
        yield from _within(str(path), file, patterns)


def _within(name: str, file: IO[bytes], patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    if name.lower().endswith(".zip"):
        with ZipFile(file) as archive:
            for member in sorted(archive.namelist()):
                if matches(member, patterns):
                    with _member(archive, member) as inner:
                        yield from _within(member, inner, patterns)
        return
    suffix = PurePath(name).suffix
    if suffix.lower() in COMPRESSED:
        with COMPRESSED[suffix.lower()](file) as inner:
            yield name.removesuffix(suffix), inner
    else:
        yield name, file


def _member(archive: ZipFile, name: str) -> IO[bytes]:
    try:
        return archive.open(name)
    except RuntimeError as error:  # encrypted, or compressed as Python cannot read; a fault of ours is none
        raise BadZipFile(f"{name}: {error}") from None


@contextmanager
def whole(name: str) -> Iterator[None]:
    """Turn what a damaged archive raises into ValueError with the name of the file."""
    try:
        yield
    except DAMAGE as error:
        raise ValueError(f"{name}: not a whole file of its kind ({' '.join(str(error).split())})") from None
    except OSError as error:
        if error.errno is not None:  # of the machine; bz2 has none of its own
            raise
        raise ValueError(f"{name}: not a whole file of its kind ({error})") from None
