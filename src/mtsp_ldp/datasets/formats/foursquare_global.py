"""Foursquare check-ins of the world (TIST2015): check-ins and venues in two files; a cell is a country."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.formats.foursquare import WRITTEN
from mtsp_ldp.datasets.ingest.archive import opened
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.domain import Domain, Labels
from mtsp_ldp.datasets.ingest.timestamps import written
from mtsp_ldp.datasets.ingest.traces import Traces, number
from mtsp_ldp.foundation.grid import hilbert_order

_VENUES = ("dataset_TIST2015_POIs.txt",)


@register("foursquare_global")
class FoursquareGlobal(Traces):
    """Tab-separated: check-ins ``user, venue, time, offset``; venues ``venue, lat, lon, category, country``.

    The countries are those of the list of venues, which is public, in Hilbert order of their venues' mean
    place; a check-in at a venue that the list lacks is dropped as ``unknown_venue``.
    """

    members: ClassVar[tuple[str, ...]] = ("dataset_TIST2015_Checkins.txt", *_VENUES)

    def domain(self, files: list[Path]) -> Domain:
        """Make the domain of the countries in the list of venues."""
        venues = _venues(tuple(files))
        if venues.is_empty():
            raise ValueError(f"{self.name}: {', '.join(_VENUES)}: no venue")
        places = venues.group_by("country").agg(pl.col("lon").mean(), pl.col("lat").mean()).sort("country")
        places = places[hilbert_order(places["lon"], places["lat"]).tolist()]
        return Labels(places["country"].to_list(), list(places.select("lon", "lat").iter_rows()))

    def _records(self, files: list[Path]) -> Iterator[pl.DataFrame]:
        venues = _venues(tuple(files)).select("venue", label="country")
        for frame in super()._records(files):
            joined = frame.join(venues, on="venue", how="left", maintain_order="left")
            unknown = pl.col("venue").is_not_null() & pl.col("label").is_null()
            yield joined.select(
                "user", "time", "label", reason=pl.when(unknown).then(pl.lit("unknown_venue"))
            )

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every check-in."""
        if not name.endswith(_VENUES):
            yield from delimited(file, ["user", "venue", "time", "offset"], name=name, separator="\t")

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read check-ins, with their venues."""
        return rows.select(
            pl.col("user").cast(pl.Int64, strict=False),
            "venue",
            time=written(pl.col("time"), WRITTEN, "UTC"),
        )


@lru_cache(maxsize=1)
def _venues(files: tuple[Path, ...]) -> pl.DataFrame:
    """Read venue, country, lon and lat of the list of venues; each venue once."""
    columns = ["venue", "lat", "lon", "category", "country"]
    frames = [
        rows.select("venue", "country", lon=number("lon"), lat=number("lat"))
        for path in files
        for name, file in opened(path, _VENUES)
        for rows in delimited(file, columns, name=name, separator="\t", encoding="iso-8859-1")
    ]
    empty = pl.DataFrame(
        schema={"venue": pl.String, "country": pl.String, "lon": pl.Float64, "lat": pl.Float64}
    )
    return pl.concat([empty, *frames]).drop_nulls().unique("venue", keep="first", maintain_order=True)
