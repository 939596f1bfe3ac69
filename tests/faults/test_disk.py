"""A disk that is full or cannot be written, and files that were cut or spoiled after they were made."""

import os
import subprocess

import pytest


def mount(folder, options):
    """A tmpfs of its own, where this machine permits one."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs may be mounted here")


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


@pytest.fixture
def small_disk(trial):
    """A clone whose data is on a disk that the streams alone nearly fill."""
    place = trial.folder / "data"
    mount(place, "size=64k")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_named_and_more_room_is_enough(trial, small_disk):
    code, said = trial.run()
    assert code != 0
    assert "No space left on device" in said
    assert "ends with:" in said
    remount(small_disk, "size=64m")
    trial.completes()


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_named(trial):
    place = trial.folder / "data"
    mount(place, "ro")
    try:
        code, said = trial.run()
        assert code != 0
        assert "Read-only file system" in said
        assert "data/raw/log" in said
        remount(place, "rw")
        trial.completes()
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def cut(path):
    held = path.read_bytes()
    path.write_bytes(held[: len(held) // 2])


RUN = "data/runs/smoke/log/lpa/epsilon=1.0_window=20"
FIRST = ["data/streams/log.parquet", f"{RUN}.parquet", "data/summaries/smoke.parquet"]
OTHERS = [
    "data/streams/log.json",
    f"{RUN}.release.parquet",
    f"{RUN}.trace.parquet",
    "data/summaries/smoke.ratios.parquet",
]


@pytest.mark.parametrize("name", [*FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_cut_file_is_named_and_deleting_it_is_enough(done, name):
    path = done.folder / name
    cut(path)
    # what reads the file runs again, since it is newer than what was made of it
    code, said = done.run("--forcerun", "plot")
    assert code != 0
    assert f"{name}: not a whole" in said
    assert "delete it and run again" in said
    assert "Traceback" not in said
    path.unlink()
    done.completes()
