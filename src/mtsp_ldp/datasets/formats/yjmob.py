"""YJMob100K: 75 days of a Japanese city, on a grid of 200 × 200 squares of 500 m, by the half hour.

The files of the HuMob challenges have the same columns; positions that they hide are 999, out of range.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, ClassVar

import polars as pl
from pydantic import field_validator

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.archive import ARCHIVES, matches
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.traces import Traces
from mtsp_ldp.streams.facts import Coordinates

_HALF_HOUR = 30 * 60 * 1_000_000


@register("yjmob")
class YJMob(Traces):
    """``uid,d,t,x,y``: day, half hour, and square from 1 to 200; time starts at day 0, which has no date.

    Attributes
    ----------
    file
        The one file to read: people of different files have the same numbers.
    """

    members: ClassVar[tuple[str, ...]] = (
        "yjmob100k-dataset[12].csv",
        "task[12]_dataset.csv",
        "task[12]_dataset_kotae.csv",
        "city[abcd]-dataset.csv",
        "city[abcd]_challengedata.csv",
        "city[abcd]_groundtruthdata.csv",
    )
    world: ClassVar[tuple[float, float, float, float]] = (1.0, 1.0, 200.0, 200.0)
    units: ClassVar[Coordinates] = "plane"

    file: str = "yjmob100k-dataset1.csv"

    @field_validator("file")
    @classmethod
    def _check_file(cls, name: str) -> str:
        if not matches(name, cls.members) or name.endswith(ARCHIVES):
            raise ValueError(f"must be like {', '.join(cls.members)}")
        return name

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every line of the one file."""
        if PurePath(name).name.lower() == self.file.lower():
            yield from delimited(file, None, name=name, wanted=("uid", "d", "t", "x", "y"))

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read squares; half hours outside 0..47 are out of range."""
        small = pl.col("d", "t", "x", "y").cast(pl.Int32, strict=False).cast(pl.Int64)
        numbers = rows.with_columns(pl.col("uid").cast(pl.Int64, strict=False), small)
        return numbers.select(
            user="uid",
            time=(pl.col("d") * 48 + pl.col("t")) * _HALF_HOUR,
            x=pl.col("x").cast(pl.Float64),
            y=pl.col("y").cast(pl.Float64),
            reason=pl.when(~pl.col("t").is_between(0, 47)).then(pl.lit("out_of_range")),
        )
