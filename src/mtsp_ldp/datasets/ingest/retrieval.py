"""Retrieval of published data: found on this machine first, fetched with pooch if that is allowed.

Nothing is taken that is not what was published: sizes and hashes are checked, archives are read through,
and a file appears in its folder only when it has passed.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

from mtsp_ldp.datasets.ingest.archive import ARCHIVES, COMPRESSED, DAMAGE, matching, unread
from mtsp_ldp.datasets.source import Permission, PublishedFile, Source, SourceError
from mtsp_ldp.foundation.files import atomic_write, digest_file, digest_text

ELSEWHERE = "MTSP_LDP_DATA"
"""Environment variable: a folder with one folder a data set, searched before any download."""
RETRIES = 3
TIMEOUT = 60


def local_files(source: Source, members: Sequence[str], folder: Path) -> list[Path]:
    """List the raw files of a folder: those published if they are all there, else all that can be read."""
    named = [folder / file.name for file in source.files]
    return named if named and all(path.exists() for path in named) else matching(folder, members)


def loose_files(
    source: Source, name: str, members: Sequence[str], folder: Path
) -> list[tuple[str, int, int]]:
    """List name, size and time of raw files that a user may change: all but published archives."""
    for place in [folder, *_elsewhere(name)]:
        found = [path for path in local_files(source, members, place) if path.exists()]
        if found:
            published = {file.name for file in source.files}
            kept = [path for path in found if path.name not in published]
            facts = [(path.relative_to(place).as_posix(), path.stat()) for path in kept]
            return [(path, stat.st_size, stat.st_mtime_ns) for path, stat in facts]
    return []


def ensure_raw_files(
    source: Source, name: str, members: Sequence[str], folder: Path, permission: Permission
) -> dict[str, Any]:
    """Ensure that the raw files are in ``folder`` and right; return the receipt.

    Parameters
    ----------
    source
        Description of what is published.
    name
        Name of the data set.
    members
        Patterns of the files that are read, in an archive or unpacked.
    folder
        ``data/raw/<name>``.
    permission
        Downloads and terms that the user allows.

    Raises
    ------
    SourceError
        If files are missing (the message says where to put them), or a file is wrong.
    """
    for place in _elsewhere(name):
        if not _complete(folder, source, members) and _complete(place, source, members):
            for entry in sorted(place.iterdir()):
                _link(entry, folder / entry.name)
    origin = {}
    if not _complete(folder, source, members):
        require_files(source, name, members, folder, permission)
        for file in source.files:
            if not (folder / file.name).exists():
                origin[file.name] = _download(file, source, folder)
    return _receipt(source, members, folder, origin)


def require_files(
    source: Source, name: str, members: Sequence[str], folder: Path, permission: Permission
) -> None:
    """Raise SourceError if raw files are missing and may not be downloaded."""
    if any(_complete(place, source, members) for place in [folder, *_elsewhere(name)]):
        return
    absent = [file.name for file in source.files if not (folder / file.name).exists()]
    names = ", ".join(absent) or "raw files"
    where = f"{folder} or ${ELSEWHERE}/{name}"
    put = f"{name}: {names} missing: put them, or what they unpack to ({', '.join(members)}), into {where}"
    if others := unread(folder, members):
        put += f"; not read there: {', '.join(others)}"
    if source.manual:
        raise SourceError(f"{put}; {source.manual} ({source.page})")
    if not permission.download:
        raise SourceError(f"{put}; they are at {source.page}; or allow_download=true{_accept(source, name)}")
    if source.terms and name not in permission.terms:
        raise SourceError(
            f"{name}: its terms are {source.terms} ({source.page}); to agree:{_accept(source, name)}"
        )


def _accept(source: Source, name: str) -> str:
    return f" accept_terms=[{name}]" if source.terms else ""


def _elsewhere(name: str) -> list[Path]:
    root = os.environ.get(ELSEWHERE)
    place = Path(root) / name if root else None
    return [place] if place is not None and place.is_dir() else []


def _complete(place: Path, source: Source, members: Sequence[str]) -> bool:
    """Tell whether all published files are there, or, with none of them, other files that can be read."""
    present = [(place / file.name).exists() for file in source.files]
    if any(present):
        return all(present)
    return bool(matching(place, members))


def _link(entry: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()
    if not target.exists():
        target.symlink_to(entry.resolve())


def _download(file: PublishedFile, source: Source, folder: Path) -> str:
    """Fetch one file into the folder; return the address that gave it."""
    import pooch
    import requests

    headers = {"User-Agent": source.user_agent} if source.user_agent else {}
    downloader = pooch.HTTPDownloader(progressbar=True, headers=headers, timeout=TIMEOUT, chunk_size=1 << 16)
    problems = []
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob(".fetch-*"):
        clear(stale)
    for url in file.urls:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
            keeper = pooch.create(
                path=scratch,
                base_url="",
                registry={file.name: file.hash},
                urls={file.name: url},
                retry_if_failed=RETRIES,
            )
            try:
                partial = Path(keeper.fetch(file.name, downloader=downloader))
                check(partial, file)
                _remember(partial, file, folder)
                partial.replace(folder / file.name)
                return url
            except (requests.RequestException, SourceError, ValueError, OSError) as error:
                problems.append(f"{url}: {' '.join(str(error).split())}")
    raise SourceError(f"{file.name}: no address gave it; " + "; ".join(problems))


def check(path: Path, file: PublishedFile) -> None:
    """Refuse a file of another size or hash, a web page, and an archive that is torn or leaves its folder."""
    with path.open("rb") as opened:
        start = opened.read(512).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise SourceError(f"{path.name}: a web page, not the file")
    if file.bytes is not None and path.stat().st_size != file.bytes:
        raise SourceError(f"{path.name}: {path.stat().st_size:,} bytes, and {file.bytes:,} are published")
    if file.hash is not None:
        algorithm, _, published = file.hash.partition(":")
        found = digest_file(path, algorithm)
        if found != published:
            raise SourceError(f"{path.name}: its {algorithm} is {found}, and {published} is published")
    if path.suffix.lower() in ARCHIVES:
        _read_through(path)


def _read_through(path: Path) -> None:
    try:
        if path.suffix.lower() == ".zip":
            with ZipFile(path) as archive:
                for member in archive.namelist():
                    inside = PurePosixPath(member.replace("\\", "/"))
                    if inside.is_absolute() or ".." in inside.parts:
                        raise SourceError(f"{path.name}: its member {member!r} would leave the folder")
                torn = archive.testzip()
            if torn is not None:
                raise SourceError(f"{path.name}: its member {torn!r} is torn")
        else:
            with path.open("rb") as file, COMPRESSED[path.suffix.lower()](file) as stream:
                while stream.read(1 << 22):
                    pass
    except (*DAMAGE, OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the machine
        raise SourceError(f"{path.name}: not a whole {path.suffix} archive ({error})") from None


@contextmanager
def _checksums(folder: Path) -> Iterator[dict[str, str]]:
    """Lock and read the hashes of first downloads, ``data/raw/checksums.json``; write what was added."""
    book = folder.parent / "checksums.json"
    with (folder.parent / ".checksums.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(book.read_text()) if book.exists() else {}
        before = dict(known)
        yield known
        if known != before:
            with atomic_write(book) as partial:
                partial.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def _remember(path: Path, file: PublishedFile, folder: Path) -> None:
    """Record the hash of a file that publishes none; refuse another one later."""
    if file.hash is not None:
        return
    key, found = f"{folder.name}/{file.name}", digest_file(path)
    with _checksums(folder) as known:
        if known.setdefault(key, found) != found:
            raise SourceError(
                f"{file.name}: its sha256 is {found}, and at first it was {known[key]} "
                f"({folder.parent / 'checksums.json'})"
            )


def _receipt(
    source: Source, members: Sequence[str], folder: Path, origin: Mapping[str, str]
) -> dict[str, Any]:
    entries = []
    for file in source.files:
        path = folder / file.name
        if not path.exists():
            continue
        if file.name not in origin:
            check(path, file)
            _remember(path, file, folder)
        entry = {"file": file.name, "bytes": path.stat().st_size, "sha256": digest_file(path)}
        if file.name in origin:
            entry |= {"url": origin[file.name], "date": datetime.now(UTC).date().isoformat()}
        entries.append(entry)
    if not entries:
        loose = matching(folder, members)
        if not loose:
            raise SourceError(f"{folder}: no file like {', '.join(members)}")
        for path in loose:
            if path.suffix.lower() in ARCHIVES:
                check(path, PublishedFile(name=path.name))
        digests = [f"{path.relative_to(folder)} {digest_file(path)}" for path in loose]
        size = sum(path.stat().st_size for path in loose)
        entries = [{"file": f"{len(loose)} files", "bytes": size, "sha256": digest_text("\n".join(digests))}]
    return {"source": source.page, "licence": source.licence, "files": entries}


def clear(folder: Path) -> None:
    """Remove a scratch folder and all in it."""
    shutil.rmtree(folder, ignore_errors=True)
