"""YJMob100K: 75 days of a Japanese city, on a grid of 200 × 200 squares of 500 m, by the half hour."""

from collections.abc import Iterator
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.traces import Traces
from mtsp_ldp.streams.facts import Coordinates

_HALF_HOUR = 30 * 60 * 1_000_000


@register("yjmob")
class YJMob(Traces):
    """``uid,d,t,x,y``: day, half hour, and square from 1 to 200; time starts at day 0, which has no date."""

    members: ClassVar[tuple[str, ...]] = ("yjmob100k-dataset1.csv",)
    world: ClassVar[tuple[float, float, float, float]] = (1.0, 1.0, 200.0, 200.0)
    coordinates: ClassVar[Coordinates] = "plane"

    def records(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line; half hours outside 0..47 are out of range."""
        columns = ("uid", "d", "t", "x", "y")
        for text in delimited(file, None, name=name, wanted=columns):
            rows = text.with_columns(pl.col(columns).cast(pl.Int64, strict=False))
            yield rows.select(
                user="uid",
                time=(pl.col("d") * 48 + pl.col("t")) * _HALF_HOUR,
                x=pl.col("x").cast(pl.Float64),
                y=pl.col("y").cast(pl.Float64),
                reason=pl.when(~pl.col("t").is_between(0, 47)).then(pl.lit("out_of_range")),
            )
