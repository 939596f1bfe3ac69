"""Foursquare check-ins of New York and Tokyo (TSMC2014), with the venue's place in every row."""

from collections.abc import Iterator
from typing import IO, ClassVar, Literal

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.timestamps import written
from mtsp_ldp.datasets.ingest.traces import Traces, number

WRITTEN = "%a %b %d %H:%M:%S +0000 %Y"
_COLUMNS = ["user", "venue", "category_id", "category", "lat", "lon", "offset", "time"]


@register("foursquare")
class Foursquare(Traces):
    """Check-ins, tab-separated, ISO 8859-1; times in UTC. One archive holds both cities.

    Attributes
    ----------
    city
        City of the check-ins: ``NYC`` or ``TKY``.
    """

    members: ClassVar[tuple[str, ...]] = ("dataset_TSMC2014_NYC.txt", "dataset_TSMC2014_TKY.txt")

    city: Literal["NYC", "TKY"]

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line of the city's file."""
        if name.endswith(f"_{self.city}.txt"):
            yield from delimited(file, _COLUMNS, name=name, separator="\t", encoding="iso-8859-1")

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read check-ins."""
        return rows.select(
            pl.col("user").cast(pl.Int64, strict=False),
            time=written(pl.col("time"), WRITTEN, "UTC"),
            x=number("lon"),
            y=number("lat"),
            reason=pl.lit(None, pl.String),
        )
