"""Repair of a working folder after a killed run, or after a clock that was set back.

Snakemake's lock is a file, and outlives a run that was killed or lost its power: the next run would
always be refused. A lock of the kernel's ends with its holder, and tells a stale file from a live one.
"""

import contextlib
import fcntl
import os
import socket
import time
from pathlib import Path
from typing import IO

PATIENCE = 10.0
"""Seconds by which a file's time may lie in the future: clocks of file servers differ a little."""


def clear_stale_locks(folder: Path) -> IO[str] | None:
    """Remove the locks that a killed Snakemake left in a working folder.

    Parameters
    ----------
    folder
        Working folder of Snakemake, with ``.snakemake`` in it.

    Returns
    -------
    IO or None
        File to keep open as long as this run lives, so that others see that it does; None where the file
        system has no such locks or cannot be written to: then there is only Snakemake's lock.
    """
    state = folder / ".snakemake"
    try:
        state.mkdir(exist_ok=True)
        alive = (state / "alive").open("a")
    except OSError:
        return None
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass  # another run lives, and its lock is no stale one
    except OSError:
        alive.close()
        return None
    else:
        if _is_gone((state / "alive").read_text()):
            for lock in (state / "locks").glob("*.lock"):
                lock.unlink(missing_ok=True)
        alive.truncate(0)
        alive.write(f"{socket.gethostname()} {os.getpid()}")
        alive.flush()
    fcntl.flock(alive, fcntl.LOCK_SH)
    return alive


def _is_gone(holder: str) -> bool:
    """Tell whether the last holder is known to be gone: the kernel's lock may not reach other machines."""
    host, _, pid = holder.partition(" ")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return int(pid) == os.getpid()


def reset_future_times(folder: Path) -> None:
    """Reset modification times that lie in the future.

    After a clock was set back they would be newer than all that is made of them, and Snakemake would refuse
    every new file until the clock has caught up.
    """
    now = time.time()
    for path in folder.rglob("*"):
        # another run may take it away, and a shared folder may be another's
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if path.stat(follow_symlinks=False).st_mtime > now + PATIENCE:
                os.utime(path, (now, now))
