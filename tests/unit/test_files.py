import os
import socket
import subprocess
import sys
import time

import polars as pl
import pytest

from mtsp_ldp.experiments.workspace import clear_stale_locks, reset_future_times
from mtsp_ldp.foundation.files import BrokenFileError, atomic_write, read_json, read_table


def write_and_fail(target, error):
    with atomic_write(target) as partial:
        partial.write_text("half")
        raise error


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "x.txt"
    with pytest.raises(KeyError):
        write_and_fail(target, KeyError())
    assert list(tmp_path.iterdir()) == []
    with atomic_write(target) as partial:
        partial.write_text("whole")
        assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]


def test_debris_of_the_dead_goes_and_that_of_the_living_stays(tmp_path):
    pid = [sys.executable, "-c", "import os; print(os.getpid())"]
    gone = subprocess.run(pid, capture_output=True, check=True)
    dead, living = (tmp_path / f".x.txt.partial-{pid}" for pid in (int(gone.stdout), os.getppid()))
    dead.write_text("half")
    living.write_text("half")
    with atomic_write(tmp_path / "x.txt") as partial:
        partial.write_text("whole")
    assert not dead.exists()
    assert living.exists()


def test_a_refusal_of_the_machine_names_the_target(tmp_path):
    with pytest.raises(OSError, match=r"No space left on device: '.*/x\.txt'"):
        write_and_fail(tmp_path / "x.txt", OSError(28, "No space left on device"))
    with pytest.raises(FileNotFoundError, match="other"):
        write_and_fail(tmp_path / "x.txt", FileNotFoundError(2, "No such file", "other"))


@pytest.mark.parametrize("read", [read_table, read_json])
def test_a_broken_file_is_named(tmp_path, read):
    path = tmp_path / "cut"
    path.write_bytes(b"PAR1")
    with pytest.raises(BrokenFileError, match=r"cut: not a whole .*; delete it and run again"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")


def test_a_whole_table_is_read(tmp_path):
    frame = pl.DataFrame({"x": [1, 2]})
    frame.write_parquet(tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet").equals(frame)


def test_a_lock_is_stale_once_nobody_lives(tmp_path):
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    lock = locks / "0.input.lock"
    lock.write_text("data/x\n")
    clear_stale_locks(tmp_path).close()
    assert lock.exists()  # nobody knows whose it is
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    alive = tmp_path / ".snakemake" / "alive"
    alive.write_text(f"another-machine {killed.pid}")
    clear_stale_locks(tmp_path).close()
    assert lock.exists()  # its holder may live there
    alive.write_text(f"{socket.gethostname()} {killed.pid}")
    first = clear_stale_locks(tmp_path)
    assert not lock.exists()
    lock.write_text("data/x\n")  # the first run's own
    second = clear_stale_locks(tmp_path)
    assert lock.exists()
    first.close()
    third = clear_stale_locks(tmp_path)
    assert lock.exists()  # the second lives
    second.close()
    third.close()
    clear_stale_locks(tmp_path).close()
    assert not lock.exists()


def test_files_from_the_future_are_dated_as_of_now(tmp_path):
    past, future = tmp_path / "past", tmp_path / "deep" / "future"
    future.parent.mkdir()
    now = time.time()
    for path, seconds in ((past, -500), (future, 500)):
        path.write_text("x")
        os.utime(path, (now + seconds, now + seconds))
    reset_future_times(tmp_path)
    assert past.stat().st_mtime == pytest.approx(now - 500, abs=1)
    assert now - 1 <= future.stat().st_mtime <= time.time()
    reset_future_times(tmp_path / "not there")
