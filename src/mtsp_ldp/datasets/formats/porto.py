"""Porto's taxis, a year of trips (ECML/PKDD 2015): a position every 15 seconds from the trip's start."""

from collections.abc import Iterator
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.traces import Traces

_STEP = 15_000_000


@register("porto")
class Porto(Traces):
    """``TIMESTAMP`` and ``POLYLINE``, a list of [lon, lat]; the user is ``TAXI_ID``.

    A record is a position. A trip without one is dropped as ``no_position``, and the positions of a trip with
    ``MISSING_DATA`` as ``missing_data``: after a gap their times are unknown.
    """

    members: ClassVar[tuple[str, ...]] = ("train.csv",)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every trip."""
        wanted = ("TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")
        return delimited(file, None, name=name, wanted=wanted, quote='"')

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read every position of the trips."""
        points = pl.col("POLYLINE").str.replace_all(" ", "").str.strip_chars("[]").str.split("],[")
        trips = rows.select(
            user=pl.col("TAXI_ID").cast(pl.Int64, strict=False),
            start=pl.col("TIMESTAMP").cast(pl.Int64, strict=False) * 1_000_000,
            gap=pl.col("MISSING_DATA").str.to_lowercase() == "true",
            point=points,
            step=pl.int_ranges(0, points.list.len().fill_null(1)),
        )
        places = trips.explode("point", "step").with_columns(
            pl.col("point").str.split_exact(",", 1).struct.rename_fields(["x", "y"])
        )
        return places.select(
            "user",
            time=pl.col("start") + pl.col("step") * _STEP,
            x=pl.col("point").struct.field("x").cast(pl.Float64, strict=False),
            y=pl.col("point").struct.field("y").cast(pl.Float64, strict=False),
            reason=pl.when(pl.col("gap"))
            .then(pl.lit("missing_data"))
            .when(pl.col("point").struct.field("x") == "")
            .then(pl.lit("no_position")),
        )
