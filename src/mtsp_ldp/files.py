"""Files that appear whole or not at all, and digests of what they hold."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside the target; rename it onto the target on success only."""
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def digest_file(path: str | Path, kind: str = "sha256") -> str:
    """The sha256 of a file, or its hash of another kind, in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def digest_text(text: str) -> str:
    """The sha256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
