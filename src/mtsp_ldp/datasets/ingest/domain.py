"""The public list of cells: squares of a box, or labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from mtsp_ldp.foundation.grid import hilbert_grid
from mtsp_ldp.streams.facts import Cell

OUTSIDE = "outside"
"""Reason of a reader for a record that says that its user is outside of all cells."""


class Domain(Protocol):
    """Numbering of places; the order of cells is the order of the tree's leaves."""

    @property
    def d(self) -> int:
        """Number of cells."""

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add to the frame the cells of its records, and why one has none.

        Returns
        -------
        DataFrame
            With ``cell`` (null where there is none), ``misplaced`` (the reason, or null), and ``elsewhere``:
            whether that reason says that the user is outside of all cells.
        """

    def cells(self) -> tuple[Cell, ...]:
        """Describe each cell, for people and maps."""


@dataclass(frozen=True)
class Squares:
    """A box cut into ``side`` × ``side`` rectangles, numbered along a Hilbert curve.

    Attributes
    ----------
    box
        West, south, east, north, in the units of the data's x and y; the border belongs to it.
    side
        Squares a side.
    world
        Bounds of valid coordinates: west, south, east, north.
    """

    box: tuple[float, float, float, float]
    side: int
    world: tuple[float, float, float, float]

    @property
    def d(self) -> int:
        """Number of cells."""
        return self.side**2

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Find the squares of ``x`` and ``y``."""
        west, south, east, north = self.box
        columns = [self._step("x", west, east), self._step("y", south, north)]
        numbers = pl.Series(hilbert_grid(self.side).ravel(), dtype=pl.UInt16)
        placed = frame.with_columns(
            misplaced=pl.when(~_inside(self.world))
            .then(pl.lit("out_of_range"))
            .when(~_inside(self.box))
            .then(pl.lit("out_of_box")),
        ).with_columns(
            square=pl.when(pl.col("misplaced").is_null()).then(columns[0] * self.side + columns[1])
        )
        return placed.with_columns(
            cell=pl.Series(numbers).gather(placed["square"].fill_null(0)),
        ).with_columns(
            cell=pl.when(pl.col("square").is_not_null()).then("cell"),
            elsewhere=pl.col("misplaced").eq_missing(pl.lit("out_of_box")),
        )

    def _step(self, axis: str, low: float, high: float) -> pl.Expr:
        step = ((pl.col(axis) - low) / (high - low) * self.side).floor()
        return pl.min_horizontal(step, pl.lit(self.side - 1)).cast(pl.Int64, strict=False)

    def cells(self) -> tuple[Cell, ...]:
        """Give name and middle of each square."""
        west, south, east, north = self.box
        numbers = hilbert_grid(self.side)
        across, up = np.unravel_index(np.argsort(numbers, axis=None), numbers.shape)
        return tuple(
            Cell(
                f"({i}, {j})",
                round(west + (i + 0.5) / self.side * (east - west), 6),
                round(south + (j + 0.5) / self.side * (north - south), 6),
            )
            for i, j in zip(across.tolist(), up.tolist(), strict=True)
        )


def _inside(bounds: tuple[float, float, float, float]) -> pl.Expr:
    west, south, east, north = bounds
    return pl.col("x").is_between(west, east) & pl.col("y").is_between(south, north)


@dataclass(frozen=True)
class Labels:
    """Named cells, in the order of the tree.

    Attributes
    ----------
    names
        Names of the cells, each once.
    places
        x and y of each cell, where they are known.
    """

    names: Sequence[str]
    places: Sequence[tuple[float, float]] = ()

    @property
    def d(self) -> int:
        """Number of cells."""
        return len(self.names)

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Look up the cells of ``label``."""
        table = pl.DataFrame({"label": list(self.names)}).with_columns(
            cell=pl.int_range(self.d).cast(pl.UInt16)
        )
        placed = frame.join(table, on="label", how="left", maintain_order="left")
        unlisted = pl.col("cell").is_null()
        return placed.with_columns(
            misplaced=pl.when(unlisted).then(pl.lit("out_of_range")), elsewhere=unlisted
        )

    def cells(self) -> tuple[Cell, ...]:
        """Give the name of each cell, and its place."""
        if not self.places:
            return tuple(map(Cell, self.names))
        return tuple(
            Cell(name, round(x, 6), round(y, 6)) for name, (x, y) in zip(self.names, self.places, strict=True)
        )
