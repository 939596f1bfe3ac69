"""Files that appear whole or not at all, reading them back, and digests of what they hold."""

import glob
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl


class BrokenFileError(ValueError):
    """A file of an earlier stage that cannot be read: the message names it and says what to do."""


@contextmanager
def atomic_write(target: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside the target; rename it onto the target on success only.

    Parameters
    ----------
    durable
        Return only after the file would survive a loss of power: for a ledger, not for reproducible files.

    Raises
    ------
    OSError
        Naming the target, if the machine refuses: a full disk, a file system that is read only.
    """
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    for left in path.parent.glob(f"{glob.escape(f'.{path.name}.partial-')}*"):
        if not _alive(left.name.rpartition("-")[2]):
            left.unlink(missing_ok=True)  # of a process that was killed
    try:
        yield partial
        if durable:
            _flush(partial)
        partial.replace(path)
        if durable:
            _flush(path.parent)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(partial)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    except pl.exceptions.PolarsError as error:
        if "os error" not in str(error):
            raise
        raise OSError(f"{path}: {error}") from error  # polars has no number for it
    finally:
        partial.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        pass
    return True


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a parquet file of an earlier stage.

    Raises
    ------
    BrokenFileError
        If it is not a whole one.
    """
    with _whole(path, "parquet"):
        return pl.read_parquet(path)


def read_table_metadata(path: str | Path) -> dict[str, str]:
    """Read the key-value metadata of a parquet file of an earlier stage.

    Raises
    ------
    BrokenFileError
        If it is not a whole one.
    """
    with _whole(path, "parquet"):
        return dict(pl.read_parquet_metadata(path))


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a json file of an earlier stage.

    Raises
    ------
    BrokenFileError
        If it is not a whole one.
    """
    with _whole(path, "json"):
        content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return content


@contextmanager
def _whole(path: str | Path, form: str) -> Iterator[None]:
    """Raise BrokenFileError naming the file where a reader finds it broken."""
    try:
        yield
    except (pl.exceptions.PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BrokenFileError(
            f"{path}: not a whole {form} file ({reason}); delete it and run again"
        ) from None


def digest_file(path: str | Path, algorithm: str = "sha256") -> str:
    """Hash a file with sha256 or another algorithm, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def digest_text(text: str) -> str:
    """Hash a text with sha256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
