"""Common ground of the parts: findings, interleaved repeats, peaks of memory, facts of the machine."""

import importlib.metadata
import math
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

Name = TypeVar("Name", str, int)
PACKAGES = ("numpy", "polars", "snakemake", "pure-ldp", "multi-freq-ldpy")


@dataclass(frozen=True)
class Finding:
    """One measured number.

    Attributes
    ----------
    what, quantity, unit
        Subject of the measurement, name of the number, and its unit.
    goal
        Bound that the number should keep: at most, or at least; None without a goal.
    at_least
        True if more is better.
    """

    what: str
    quantity: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """True if the goal is met; None without a goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal


def in_turns(
    runs: Mapping[Name, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[Name, float]:
    """Take the median seconds of each run; repeats are interleaved, so that a slow minute slows all.

    Parameters
    ----------
    runs
        Runs by name or size.
    repeats
        Repeats of each run.
    clock
        Clock to read; by default the processor time of this process, which other work does not change.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = clock()
            run()
            seconds[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the slope of log seconds over log size, by least squares."""
    x, y = ([math.log(value) for value in values] for values in (sizes, seconds))
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


@dataclass(frozen=True)
class Watched:
    """A finished command.

    Attributes
    ----------
    seconds, processor
        Seconds of wall time, and of processor time of all its processes together.
    own_peak, others_peak
        Largest resident memory, in MB, of the command's process, and of any process that it started.
    output
        Text that it printed.
    """

    seconds: float
    processor: float
    own_peak: float
    others_peak: float
    output: str


def watched(command: Sequence[str], folder: Path | None = None, interval: float = 0.05) -> Watched:
    """Run a command and follow the memory of its processes (the kernel's high-water marks; Linux).

    Parameters
    ----------
    command, folder
        Command to run, and its working folder.
    interval
        Seconds between two readings.

    Raises
    ------
    RuntimeError
        If it fails; with the end of its output.
    """
    start, spent = time.perf_counter(), _children_seconds()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        peaks: dict[int, float] = {}
        done = threading.Event()
        watcher = threading.Thread(target=_follow, args=(process.pid, peaks, done, interval))
        watcher.start()
        try:
            output, _ = process.communicate()
        finally:
            done.set()
            watcher.join()
    seconds, processor = time.perf_counter() - start, _children_seconds() - spent
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{output[-2000:]}")
    own = peaks.pop(process.pid, 0.0)
    return Watched(seconds, processor, own, max(peaks.values(), default=0.0), output)


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _follow(pid: int, peaks: dict[int, float], done: threading.Event, interval: float) -> None:
    while not done.wait(interval):
        try:
            family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
        except psutil.Error:
            continue
        for member in family:
            try:
                status = Path(f"/proc/{member}/status").read_text()
            except OSError:
                continue
            if mark := re.search(r"VmHWM:\s+(\d+) kB", status):
                peaks[member] = max(peaks.get(member, 0.0), int(mark[1]) / 1e3)


def machine() -> dict[str, str]:
    """Describe the machine, its load and the versions of the packages that results depend on."""
    models = re.findall(r"model name\s*:\s*(.+)", _text("/proc/cpuinfo"))
    facts = {
        "processor": models[0] if models else platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = "not installed"
    return facts


def _text(path: str) -> str:
    return Path(path).read_text() if Path(path).exists() else ""


def python(*arguments: str) -> list[str]:
    """Build a command that runs this Python."""
    return [sys.executable, *arguments]
