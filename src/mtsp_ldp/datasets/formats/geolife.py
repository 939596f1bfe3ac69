"""GeoLife: GPS trajectories of 182 people, a folder each. Too few for LDP; it is here for its format."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.timestamps import written
from mtsp_ldp.datasets.ingest.traces import Traces, number


@register("geolife")
class GeoLife(Traces):
    """``Data/<user>/Trajectory/*.plt``: six lines, then ``lat,lon,0,altitude,days,date,time``, GMT."""

    members: ClassVar[tuple[str, ...]] = ("*.plt",)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line after the header; the user is the folder.

        Raises
        ------
        ValueError
            If the file lies in no folder ``Trajectory`` of a user.
        """
        columns = ["lat", "lon", "zero", "altitude", "days", "date", "time"]
        user, folder = ("", *PurePath(name).parts)[-3:-1] if len(PurePath(name).parts) > 1 else ("", "")
        if folder != "Trajectory" or not user:
            raise ValueError(f"{name}: must lie in a folder <user>/Trajectory, whose name is the user")
        for rows in delimited(file, columns, name=name, skip=6):
            yield rows.with_columns(user=pl.lit(user, pl.String))

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read positions."""
        return rows.select(
            "user",
            time=written(pl.col("date") + " " + pl.col("time"), "%Y-%m-%d %H:%M:%S", "UTC"),
            x=number("lon"),
            y=number("lat"),
            reason=pl.lit(None, pl.String),
        )
