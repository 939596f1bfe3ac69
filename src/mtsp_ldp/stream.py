"""The canonical stream: who is where at each timestamp, on disk and in memory.

A *panel* holds (t, user, cell); an *exchangeable* stream holds counts (t, cell, count) and a number of
users. Input is checked at this border; an error names the file and the row.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.files import digest_file, written_whole
from mtsp_ldp.oracle import IntArray

PANEL = {"t": pl.Int32, "user": pl.UInt32, "cell": pl.UInt16}
COUNTS = {"t": pl.Int32, "cell": pl.UInt16, "count": pl.Int64}


class StreamError(ValueError):
    """A stream that is not one: the message names the file, the row and what would be right."""


class Stream:
    """Locations of users over T timestamps and d cells. Make one by `read` or a ``from_`` method.

    Attributes
    ----------
    counts
        Users per cell, ``(T, d)``.
    active
        n_t, ``(T,)``; public.
    users
        Number of users who ever appear (a panel), or the fixed population (exchangeable).
    is_panel
        Whether each user's own cells are known.
    facts
        What prepare wrote beside the file: cells, geometry, slot length, dropped rows, replicate.
    key
        What names this stream in the keys of random seeds.
    """

    def __init__(
        self,
        counts: IntArray,
        users: int,
        rows: tuple[IntArray, IntArray] | None,
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.counts = counts
        self.active: IntArray = counts.sum(axis=1)
        self.users = users
        self.facts: dict[str, Any] = dict(facts or {})
        self._rows = rows
        self._offsets = np.concatenate([[0], np.cumsum(self.active)])

    @property
    def is_panel(self) -> bool:
        """Whether each user's own cells are known."""
        return self._rows is not None

    @property
    def length(self) -> int:
        """T, the number of timestamps."""
        return int(self.counts.shape[0])

    @property
    def d(self) -> int:
        """Number of cells."""
        return int(self.counts.shape[1])

    @property
    def key(self) -> str:
        """Name of the stream in the keys of seeds."""
        return str(self.facts.get("dataset", "stream"))

    @property
    def replicate(self) -> int:
        """How many independent reporters each user stands for by default."""
        return int(self.facts.get("replicate", 1))

    @cached_property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """True frequencies, ``(T, d)``; NaN where nobody is active."""
        with np.errstate(invalid="ignore"):
            shares: npt.NDArray[np.float64] = self.counts / self.active[:, None]
        return shares

    def at(self, t: int) -> tuple[IntArray, IntArray]:
        """Users active at t and their cells (a panel only)."""
        if self._rows is None:
            raise StreamError("an exchangeable stream knows counts, not users")
        here = slice(self._offsets[t], self._offsets[t + 1])
        return self._rows[0][here], self._rows[1][here]

    @classmethod
    def from_panel(
        cls,
        t: npt.ArrayLike,
        user: npt.ArrayLike,
        cell: npt.ArrayLike,
        d: int,
        *,
        length: int | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> "Stream":
        """A panel from rows in any order.

        Parameters
        ----------
        t, user, cell
            One entry a row; (t, user) unique. Users may carry any whole numbers.
        d
            Number of cells; every cell is below it.
        length
            T; the last t + 1 by default.
        """
        frame = pl.DataFrame({"t": np.asarray(t), "user": np.asarray(user), "cell": np.asarray(cell)})
        return cls._panel(frame, d, length, facts, "panel")

    @classmethod
    def _panel(
        cls,
        frame: pl.DataFrame,
        d: int,
        length: int | None,
        facts: Mapping[str, Any] | None,
        source: str,
    ) -> "Stream":
        times, users, cells = (_whole(frame[name], source).to_numpy() for name in ("t", "user", "cell"))
        steps = _length(times, length, source)
        _refuse(source, "t", times, (times < 0) | (times >= steps), f"0..{steps - 1}")
        _refuse(source, "cell", cells, (cells < 0) | (cells >= d), f"0..{d - 1}")
        ordered = bool((np.diff(times) >= 0).all())
        dense = facts is not None and "users" in facts and users.max(initial=0) < facts["users"]
        if not dense:
            _, users = np.unique(users, return_inverse=True)
        if not (ordered and (np.diff(users)[np.diff(times) == 0] > 0).all()):
            order = np.lexsort((users, times))
            times, users, cells = times[order], users[order], cells[order]
            again = (np.diff(times) == 0) & (np.diff(users) == 0)
            if again.any():
                row = int(order[1:][again].min())
                who, when = frame["user"][row], frame["t"][row]
                raise StreamError(f"{source}: row {row}: user {who} at t={when} again; once is right")
        counts = np.bincount(times * d + cells, minlength=steps * d).reshape(steps, d)
        known = int(facts["users"]) if dense and facts else int(users.max(initial=0)) + 1
        return cls(counts.astype(np.int64), known, (users, cells), facts=facts)

    @classmethod
    def from_counts(
        cls,
        counts: npt.ArrayLike,
        population: int | None = None,
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> "Stream":
        """An exchangeable stream.

        Parameters
        ----------
        counts
            Users per cell, ``(T, d)``.
        population
            The fixed number of users; the largest n_t by default.
        """
        given = np.asarray(counts)
        table = given.astype(np.int64)
        if (table != given).any() or table.ndim != 2 or 0 in table.shape or (table < 0).any():
            raise StreamError("counts: a table (T, d) of whole numbers, at least 0")
        largest = int(table.sum(axis=1).max())
        if population is not None and population < largest:
            raise StreamError(f"population={population}: at least the largest n_t, {largest}")
        return cls(table, max(population or largest, 1), None, facts=facts)

    @classmethod
    def read(cls, path: str | Path) -> "Stream":
        """Read a prepared stream, ``<name>.parquet`` with ``<name>.json`` beside it.

        Raises
        ------
        StreamError
            Naming the file and the row, for anything that is not a canonical stream.
        """
        source = Path(path)
        facts = _read_facts(source.with_suffix(".json"))
        try:
            frame = pl.read_parquet(source)
        except FileNotFoundError:
            raise StreamError(f"{source}: no such file; run prepare first") from None
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise StreamError(f"{source}: not a whole parquet file ({reason})") from None
        kind = "exchangeable" if "count" in frame.columns else "panel"
        wanted = COUNTS if kind == "exchangeable" else PANEL
        for name, dtype in wanted.items():
            if name not in frame.columns:
                raise StreamError(f"{source}: column {name!r} is missing; {list(wanted)} are there")
            if not frame[name].dtype.is_integer() or frame[name].null_count():
                raise StreamError(
                    f"{source}: column {name!r}: {dtype} without nulls, not {frame[name].dtype}"
                )
        d, length = int(facts["d"]), int(facts["T"])
        if kind == "panel":
            return cls._panel(frame, d, length, facts, str(source))
        return cls._exchangeable(frame, d, length, facts, str(source))

    @classmethod
    def _exchangeable(
        cls, frame: pl.DataFrame, d: int, length: int, facts: Mapping[str, Any], source: str
    ) -> "Stream":
        times, cells, held = (frame[name].cast(pl.Int64).to_numpy() for name in ("t", "cell", "count"))
        _refuse(source, "t", times, (times < 0) | (times >= length), f"0..{length - 1}")
        _refuse(source, "cell", cells, (cells < 0) | (cells >= d), f"0..{d - 1}")
        _refuse(source, "count", held, held < 0, "at least 0")
        again = frame.select(pl.struct("t", "cell").is_duplicated()).to_series().to_numpy()
        _refuse(source, "cell", cells, again, "each (t, cell) once")
        counts = np.zeros((length, d), dtype=np.int64)
        counts[times, cells] = held
        return cls.from_counts(counts, int(facts["users"]), facts=facts)

    def write(self, path: str | Path) -> None:
        """Write ``<name>.parquet`` and, beside it, ``<name>.json`` with the stream's facts."""
        target = Path(path)
        if self._rows is not None:
            users, cells = self._rows
            steps = np.repeat(np.arange(self.length), self.active)
            frame = pl.DataFrame({"t": steps, "user": users, "cell": cells}, schema=PANEL)
        else:
            times, cells = np.nonzero(self.counts)
            held = self.counts[times, cells]
            frame = pl.DataFrame({"t": times, "cell": cells, "count": held}, schema=COUNTS)
        own = {
            "users": self.users,
            "T": self.length,
            "d": self.d,
            "kind": "panel" if self.is_panel else "exchangeable",
            "mean_active": round(float(self.active.mean()), 1),
            "active": self.active.tolist(),
        }
        with written_whole(target) as partial:
            frame.write_parquet(partial, compression="zstd")
            own["sha256"] = digest_file(partial)
        with written_whole(target.with_suffix(".json")) as partial:
            partial.write_text(json.dumps({**self.facts, **own}, indent=1, ensure_ascii=False) + "\n")


def _length(times: IntArray, length: int | None, source: str) -> int:
    if length is None and times.size == 0:
        raise StreamError(f"{source}: no rows; at least one")
    return int(times.max()) + 1 if length is None else length


def _whole(column: pl.Series, source: str) -> pl.Series:
    if not column.dtype.is_integer():
        raise StreamError(f"{source}: column {column.name!r}: whole numbers, not {column.dtype}")
    return column.cast(pl.Int64)


def _refuse(source: str, name: str, values: IntArray, wrong: npt.NDArray[np.bool_], right: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise StreamError(f"{source}: row {row}: {name}={values[row]}, and {right} is right")


def _read_facts(path: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StreamError(f"{path}: no such file; prepare writes it beside the stream") from None
    except ValueError as error:
        raise StreamError(f"{path}: not a whole json file ({error})") from None
    for name in ("T", "d", "users"):
        if not isinstance(facts.get(name), int) or facts[name] < 1:
            raise StreamError(f"{path}: {name}={facts.get(name)!r}, and a whole number above 0 is right")
    return facts
