"""A synthetic city: people with homes, work and errands, a daily rhythm, and events to be found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from mtsp_ldp.datasets.base import Count, Dataset, Side, register
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.foundation.grid import hilbert_grid
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.streams.facts import Cell, Event, StreamFacts
from mtsp_ldp.streams.stream import Stream

HOME, WORK, ELSEWHERE = 0, 1, 2


Chance = Annotated[float, Field(ge=0, le=1)]


class CityEvent(TypedDict):
    """A crowd or an evacuation, in slots and in units of the city's side."""

    kind: Literal["crowd", "evacuation"]
    at: Annotated[Sequence[Chance], Field(min_length=2, max_length=2)]
    radius: Annotated[float, Field(gt=0)]
    start: int
    end: int
    share: Chance


@register("city")
class City(Dataset):
    """People on a grid, numbered in Hilbert order.

    Attributes
    ----------
    people
        Number of people.
    grid
        Squares a side; another value shows the same city at a finer or coarser grid.
    slot_minutes
        Length of a slot.
    days
        Length of the stream.
    hubs
        Number of places that attract people.
    hub_exponent
        Zipf exponent of their popularity.
    hub_spread
        Standard deviation of places around a hub; the city is the unit square.
    activity
        Probabilities that somebody in town is active: at the quietest and at the busiest hour.
    visitors
        Share of the people who come, stay for about a day, and go.
    renewal
        Probability per slot that somebody reconsiders where to be and whether to be active.
    events
        List of ``{kind: crowd | evacuation, at: [x, y], radius, start, end, share}`` in slots; a crowd draws
        that share of the people in town, an evacuation empties the disc.
    seed
        Seed of the city.
    """

    people: Count = 100_000
    grid: Side = 8
    slot_minutes: Count = 30
    days: Count = 5
    hubs: Count = 60
    hub_exponent: float = 1.0
    hub_spread: Annotated[float, Field(gt=0)] = 0.03
    activity: Annotated[Sequence[Chance], Field(min_length=2, max_length=2)] = (0.18, 0.52)
    visitors: Chance = 0.3
    renewal: Chance = 0.25
    events: Sequence[CityEvent] = ()
    seed: int = 1

    @property
    def slots(self) -> int | None:
        """T: the number of slots in the days."""
        return self.days * 24 * 60 // self.slot_minutes

    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Return an empty receipt: prepare makes the stream."""
        return {"source": "made by prepare", "files": []}

    def prepare(self, folder: Path) -> Stream:
        """Make the stream slot by slot, all people at once."""
        rng = generators("city", self.seed).coins
        numbers = hilbert_grid(self.grid)
        slots = self.days * 24 * 60 // self.slot_minutes
        centres = rng.random((self.hubs, 2))
        fame: FloatArray = np.arange(1.0, self.hubs + 1) ** -self.hub_exponent
        places = np.stack(
            [
                self._scatter(rng, centres, np.sqrt(fame), 3 * self.hub_spread),
                self._scatter(rng, centres, fame, self.hub_spread),
                self._scatter(rng, centres, fame, self.hub_spread),
            ]
        )
        arrives, leaves = self._stays(rng, slots)
        habit = rng.normal(0.0, 1.0, self.people)  # hours early or late
        mood, where = rng.random(self.people), np.zeros(self.people, dtype=np.int64)
        rows: list[tuple[IntArray, IntArray, IntArray]] = []
        for t in range(slots):
            hour = (t * self.slot_minutes / 60 + habit) % 24
            anew = rng.random(self.people) < self.renewal
            mood = np.where(anew, rng.random(self.people), mood)
            where = np.where(anew, _choose(rng, hour), where)
            errand = anew & (where == ELSEWHERE)
            places[ELSEWHERE, errand] = self._scatter(rng, centres, fame, self.hub_spread, int(errand.sum()))
            at = places[where, np.arange(self.people)]
            in_town = (arrives <= t) & (t < leaves)
            active = in_town & (mood < self._level(hour))
            at, active = self._disturb(t, at, active, in_town)
            who = np.flatnonzero(active)
            square = np.minimum((at[who] * self.grid).astype(np.int64), self.grid - 1)
            rows.append((np.full(who.size, t), who, numbers[square[:, 0], square[:, 1]]))
        times, users, cells = (np.concatenate(column) for column in zip(*rows, strict=True))
        return Stream.from_panel(times, users, cells, self.grid**2, length=slots, facts=self._facts(numbers))

    def _facts(self, numbers: IntArray) -> StreamFacts:
        x, y = np.unravel_index(np.argsort(numbers, axis=None), numbers.shape)
        cells = tuple(
            Cell(f"({i}, {j})", round((i + 0.5) / self.grid, 6), round((j + 0.5) / self.grid, 6))
            for i, j in zip(x.tolist(), y.tolist(), strict=True)
        )
        events = []
        for event in self.events:
            i, j = (min(int(place * self.grid), self.grid - 1) for place in event["at"])
            events.append(Event(event["kind"], int(numbers[i, j]), event["start"], event["end"]))
        return StreamFacts(
            **self.own_facts,
            slot_minutes=self.slot_minutes,
            grid=self.grid,
            coordinates="plane",
            cells=cells,
            events=tuple(events),
        )

    def _scatter(
        self,
        rng: np.random.Generator,
        centres: FloatArray,
        fame: FloatArray,
        spread: float,
        size: int | None = None,
    ) -> FloatArray:
        number = self.people if size is None else size
        hub = rng.choice(self.hubs, size=number, p=fame / fame.sum())
        points = centres[hub] + rng.normal(0.0, spread, (number, 2))
        # reflected at the city's border
        inside: FloatArray = 1.0 - np.abs(np.mod(points, 2.0) - 1.0)
        return np.minimum(inside, 1.0 - 1e-9)

    def _stays(self, rng: np.random.Generator, slots: int) -> tuple[IntArray, IntArray]:
        day = 24 * 60 // self.slot_minutes
        visits = rng.random(self.people) < self.visitors
        arrival = rng.integers(-day, slots, self.people)
        stay = rng.geometric(1 / day, self.people)
        return np.where(visits, arrival, 0), np.where(visits, arrival + stay, slots)

    def _level(self, hour: FloatArray) -> FloatArray:
        low, high = self.activity
        return low + (high - low) * (1 - np.cos(2 * np.pi * (hour - 3.5) / 24)) / 2

    def _disturb(
        self,
        t: int,
        at: FloatArray,
        active: np.ndarray,
        in_town: np.ndarray,
    ) -> tuple[FloatArray, np.ndarray]:
        for number, event in enumerate(self.events):
            if not event["start"] <= t < event["end"]:
                continue
            centre = np.asarray(event["at"], dtype=np.float64)
            rng = generators("city event", self.seed, number).coins
            if event["kind"] == "crowd":
                goes = in_town & (rng.random(self.people) < event["share"])
                drawn = centre + rng.normal(0.0, event["radius"] / 3, (self.people, 2))
                at = np.where(goes[:, None], np.clip(drawn, 0.0, 1.0 - 1e-9), at)
                active = active | goes
            else:
                flees = ((at - centre) ** 2).sum(axis=1) < event["radius"] ** 2
                refuge = rng.random((self.people, 2))
                at = np.where(flees[:, None], refuge, at)
        return at, active


def _choose(rng: np.random.Generator, hour: FloatArray) -> IntArray:
    """Choose home, work or elsewhere, by the hour of each person's day."""
    works = np.clip(np.minimum(hour - 7.5, 18.5 - hour) / 2, 0.03, 0.62)
    out = np.where((hour > 10) & (hour < 23), 0.25, 0.04)
    draw = rng.random(hour.size)
    return np.where(draw < works, WORK, np.where(draw < works + out, ELSEWHERE, HOME))
