"""Check-ins of Gowalla and Brightkite, as the SNAP collection publishes them."""

from collections.abc import Iterator
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.timestamps import written
from mtsp_ldp.datasets.ingest.traces import Traces, number


@register("snap")
class Snap(Traces):
    """Tab-separated ``user, time, lat, lon, place``; times end in Z; no place is (0, 0) with an empty id."""

    members: ClassVar[tuple[str, ...]] = ("*_totalCheckins.txt",)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line."""
        return delimited(file, ["user", "time", "lat", "lon", "place"], name=name, separator="\t")

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read check-ins; (0, 0) is no place."""
        nowhere = (number("lon") == 0) & (number("lat") == 0)
        return rows.select(
            pl.col("user").cast(pl.Int64, strict=False),
            time=written(pl.col("time"), "%Y-%m-%dT%H:%M:%SZ", "UTC"),
            x=number("lon"),
            y=number("lat"),
            reason=pl.when(nowhere).then(pl.lit("no_place")),
        )
