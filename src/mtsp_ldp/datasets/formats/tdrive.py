"""T-Drive: a week of Beijing's taxis. One text a taxi, ``id,time,lon,lat`` on local clocks."""

from collections.abc import Iterator
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.timestamps import written
from mtsp_ldp.datasets.ingest.traces import Traces, number


@register("tdrive")
class TDrive(Traces):
    """``release/taxi_log_2008_by_id/<id>.txt``; longitude comes first."""

    members: ClassVar[tuple[str, ...]] = ("[0-9]*.txt",)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line."""
        return delimited(file, ["user", "time", "x", "y"], name=name)

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read positions."""
        return rows.select(
            "user",
            time=written(pl.col("time"), "%Y-%m-%d %H:%M:%S", self.time_zone),
            x=number("x"),
            y=number("y"),
            reason=pl.lit(None, pl.String),
        )
