"""Whether another run works in this folder: a lock that ends with its holder, however it dies.

Snakemake's own lock is a file, and outlives a run that was killed or lost its power: the next run would be
refused for ever. Where nobody holds the kernel's lock, such a file is stale and goes away.
"""

import fcntl
from pathlib import Path
from typing import IO


def clear_stale_locks(folder: Path) -> IO[str] | None:
    """Remove the locks that a killed Snakemake left in a working folder.

    Parameters
    ----------
    folder
        Where Snakemake works, with ``.snakemake`` in it.

    Returns
    -------
    A file to keep open as long as this run lives, which tells others that it does; None where the file system
    has no such locks or cannot be written to: then Snakemake's own lock stands alone.
    """
    state = folder / ".snakemake"
    try:
        state.mkdir(exist_ok=True)
        held = (state / "alive").open("a")
    except OSError:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass  # another run lives, and its lock is no stale one
    except OSError:
        held.close()
        return None
    else:
        for lock in (state / "locks").glob("*.lock"):
            lock.unlink(missing_ok=True)
    fcntl.flock(held, fcntl.LOCK_SH)
    return held
