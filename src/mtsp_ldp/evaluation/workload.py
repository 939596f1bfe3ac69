"""Workload: the queries that every release of a stream is asked, and their right answers.

Query sets are drawn once per data set, from its name, so no mechanism sees others' questions. Each question
is answered once from the truth, whatever the number of releases.
"""

import itertools
from functools import cached_property

import numpy as np
import polars as pl

from mtsp_ldp.evaluation.measures import event_threshold
from mtsp_ldp.evaluation.targets import BoxTarget, EventQuery, KnownEvent, RangeTarget
from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.grid import hilbert_grid
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.releases.queries import window_sums
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.windows import PeriodQuery
from mtsp_ldp.streams.stream import Stream

COUNTING_DELTAS = (1, 5, 10)
EVENT_DELTAS = (3, 6, 12)
MONITORED = 10
"""Number of cells, those with the largest true mean, that are watched for events."""
RANGES_PER_CLASS = 30
BOXES = 30


def true_release(stream: Stream, replicate: int = 1) -> Release:
    """Put the true frequencies into a release, so that the same queries can be asked of it."""
    shares, steps = np.nan_to_num(stream.frequencies), np.arange(stream.length)
    return Release(shares, steps, stream.active * replicate, pl.DataFrame({"t": steps}))


class Workload:
    """The queries that releases of one stream are asked, and the right answers.

    Parameters
    ----------
    stream
        Prepared stream.
    replicate
        Reporters per user, as in the simulation.

    Attributes
    ----------
    release
        True frequencies in the shape of a release.
    nobody
        Timestamps without an active user, ``(T,)``.
    """

    def __init__(self, stream: Stream, replicate: int = 1) -> None:
        self.release = true_release(stream, replicate)
        self.nobody = self.release.active == 0
        self._facts = stream.facts
        self._key = stream.key

    @cached_property
    def ranges(self) -> dict[str, tuple[IntArray, IntArray]]:
        """Random intervals of cells by length class: up to d/16, d/4 and d."""
        rng = generators("ranges", self._key).coins
        d = self.release.d
        found = {}
        for name, part in (("short", 16), ("medium", 4), ("long", 1)):
            length = rng.integers(1, max(d // part, 1) + 1, RANGES_PER_CLASS)
            first = rng.integers(0, d - length + 1)
            found[name] = (first, first + length - 1)
        return found

    @cached_property
    def boxes(self) -> BoxTarget | None:
        """Random boxes on the grid; None where the stream has no grid."""
        side = self._facts.grid
        if side is None:
            return None
        rng = generators("boxes", self._key).coins
        x, y = (np.sort(rng.integers(0, side, (BOXES, 2)), axis=1) for _ in range(2))
        drawn = [(a, b, c, d) for a, b, c, d in np.column_stack([x, y]).tolist()]
        numbers = hilbert_grid(side)
        true = self.release.box_frequencies(numbers, drawn)
        return BoxTarget(numbers, drawn, true * np.where(self.nobody[:, None], np.nan, 1.0))

    @cached_property
    def busiest(self) -> IntArray:
        """The cells with the largest true mean, which are monitored; busiest first."""
        # without users a frequency is 0 here, and changes no order
        total = self.release.frequencies.sum(axis=0)
        return np.argsort(-total, kind="stable")[:MONITORED]

    @cached_property
    def watches(self) -> list[EventQuery]:
        """The events of the truth, on counts and relative to n_t, for each period that fits."""
        fitting = [delta for delta in EVENT_DELTAS if 2 * delta < self.release.length]
        return [self._watch(self.busiest, delta, relative) for delta in fitting for relative in (False, True)]

    def _changes(self, cells: IntArray, delta: int, relative: bool) -> PeriodQuery:
        """Ask for changes on the truth's scale: of counts, or of shares of the users who were there."""
        return PeriodQuery(cells, cells, delta, change=True, relative=relative, users=self.release.active)

    def _watch(self, cells: IntArray, delta: int, relative: bool) -> EventQuery:
        change = self.release.changes(cells, cells, delta, relative=relative)
        present = window_sums(self.release.active.astype(np.float64), delta) > 0
        defined = present[delta:] & present[:-delta]
        levels = np.array([event_threshold(column[defined]) for column in change.T])
        known = ~np.isnan(levels)
        happens = (change[:, known] >= levels[known]) & defined[:, None]
        true = change[defined][:, known]
        skipped = int((~known).sum())
        asked = self._changes(cells[known], delta, relative)
        return EventQuery(
            asked, cells[known], levels[known], happens, true.std(axis=0), true, defined, skipped
        )

    @cached_property
    def cells(self) -> list[RangeTarget]:
        """The counting queries: every cell, over each number of timestamps that fits."""
        cells, length = np.arange(self.release.d), self.release.length
        return [self._target(cells, cells, delta) for delta in COUNTING_DELTAS if delta <= length]

    @cached_property
    def intervals(self) -> RangeTarget:
        """The random intervals of all classes."""
        lo, hi = (np.concatenate(ends) for ends in zip(*self.ranges.values(), strict=True))
        return self._target(lo, hi, 1)

    def _target(self, lo: IntArray, hi: IntArray, delta: int) -> RangeTarget:
        users = window_sums(self.release.active.astype(np.float64), delta)[:, None]
        users = np.where(users > 0, users, np.nan)
        asked = PeriodQuery(lo, hi, delta)
        return RangeTarget(asked, users, self.release.answer([asked])[0].values / users)

    @cached_property
    def alarms(self) -> list[KnownEvent]:
        """The events that the data set names, where they make their cell's count rise."""
        found = []
        for number, event in enumerate(self._facts.events, start=1):
            cell = np.array([event.cell])
            # a crowd makes the count rise when it comes; what empties a cell, when it ends
            rises = event.start if event.kind == "crowd" else event.end
            for delta, relative in itertools.product(EVENT_DELTAS, (False, True)):
                after = slice(rises - 2 * delta + 1, rises + 1)
                if after.start < 0 or after.stop + delta > self.release.length:
                    continue
                true = self.release.changes(cell, cell, delta, relative=relative)[:, 0]
                bar = event_threshold(true[~np.isnan(true)])
                if (true[after] >= bar).any():
                    name = f"known_{number}_{event.kind}"
                    found.append(KnownEvent(name, self._changes(cell, delta, relative), after, bar))
        return found

    @cached_property
    def questions(self) -> list[PeriodQuery]:
        """All questions about periods, so that a release can answer them at once."""
        watches = [watch.asked for watch in self.watches if watch.cells.size]
        targets = [target.asked for target in (*self.cells, self.intervals)]
        return [*targets, *watches, *(alarm.asked for alarm in self.alarms)]
