"""Chicago's taxi trips, from the city's portal: community areas by the quarter of an hour."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.domain import OUTSIDE, Domain, Labels
from mtsp_ldp.datasets.ingest.timestamps import iso, written
from mtsp_ldp.datasets.ingest.traces import Traces

AREAS = 77
_ALIASES = {
    "taxi_id": "Taxi ID",
    "trip_start_timestamp": "Trip Start Timestamp",
    "trip_end_timestamp": "Trip End Timestamp",
    "pickup_community_area": "Pickup Community Area",
    "dropoff_community_area": "Dropoff Community Area",
}
"""Names of the columns in the portal's API and in BigQuery."""
_ENDS = [
    ("Trip Start Timestamp", "Pickup Community Area"),
    ("Trip End Timestamp", "Dropoff Community Area"),
]


@register("chicago")
class Chicago(Traces):
    """Taxi trips, two records each: start and end, on local clocks.

    The columns may have the names of the portal's export, of its API, or of BigQuery, whose times are
    local ones, too, although it writes UTC after them.

    An empty area lies outside the city and is dropped as ``outside``. The areas are numbered by the city,
    side by side, and keep that order.
    """

    members: ClassVar[tuple[str, ...]] = ("*.csv",)

    def domain(self, files: list[Path]) -> Domain:
        """Make the domain of the 77 community areas."""
        return Labels([str(area) for area in range(1, AREAS + 1)])

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every trip."""
        wanted = ["Taxi ID", *(column for end in _ENDS for column in end)]
        return delimited(file, None, name=name, wanted=wanted, quote='"', aliases=_ALIASES)

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read pickups and dropoffs."""
        return pl.concat(self._ends(rows, time, area) for time, area in _ENDS)

    def _ends(self, rows: pl.DataFrame, time: str, area: str) -> pl.DataFrame:
        rides = rows.select(
            user="Taxi ID",
            time=pl.coalesce(
                written(pl.col(time), "%m/%d/%Y %I:%M:%S %p", self.time_zone),
                iso(pl.col(time).str.strip_suffix(" UTC"), self.time_zone),
            ),
            label=pl.col(area).str.strip_suffix(".0"),
        )
        outside = pl.col("label").is_null() & pl.all_horizontal(pl.col("user", "time").is_not_null())
        return rides.with_columns(reason=pl.when(outside).then(pl.lit(OUTSIDE)))
