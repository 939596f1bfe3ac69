"""The synthetic binary streams of LDP-IDS (Ren et al. 2022): LNS, Sin and Log. Exchangeable users, d = 2."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from mtsp_ldp.datasets.base import Count, Dataset, register
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.streams.facts import Cell, StreamFacts
from mtsp_ldp.streams.stream import Stream


@register("lns", "sin", "log")
class Binary(Dataset):
    """Binary stream: cell 1 holds the share p_t of a fixed number of users.

    Attributes
    ----------
    curve
        Curve of p_t: ``lns`` is a Gaussian walk reflected at 0 and 1; ``sin``; ``log``.
    users
        N, the fixed number of users.
    length
        T, in timestamps.
    path
        Number of the walk's path; the other curves ignore it.
    """

    curve: Literal["lns", "sin", "log"]
    users: Count = 200_000
    length: Count = 800
    path: Annotated[int, Field(ge=0)] = 0

    @property
    def slots(self) -> int | None:
        """T, from the config."""
        return self.length

    def shares(self) -> FloatArray:
        """Compute p_t, ``(T,)``."""
        steps = np.arange(self.length, dtype=np.float64)
        if self.curve == "sin":
            return 0.05 * np.sin(0.01 * steps) + 0.075
        if self.curve == "log":
            return 0.25 / (1.0 + np.exp(-0.01 * steps))
        moves = generators("lns", self.path).coins
        walk = 0.05 + np.cumsum(np.r_[0.0, moves.normal(0.0, 0.0025, self.length - 1)])
        # a walk reflected at 0 and 1 is the free walk folded onto [0, 1]
        folded: FloatArray = 1.0 - np.abs(np.mod(walk, 2.0) - 1.0)
        return folded

    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Return an empty receipt: prepare makes the stream."""
        return {"source": "made by prepare", "files": []}

    def prepare(self, folder: Path) -> Stream:
        """Make the stream; counts are N p_t, rounded."""
        ones = np.rint(self.users * self.shares()).astype(np.int64)
        facts = StreamFacts(**self.own_facts, cells=(Cell("0"), Cell("1")))
        return Stream.from_counts(np.column_stack([self.users - ones, ones]), self.users, facts=facts)
