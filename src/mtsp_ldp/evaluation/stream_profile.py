"""Profile of a prepared stream in numbers, and expected errors of LDP on it: before any run."""

import numpy as np
import polars as pl

from mtsp_ldp.evaluation.expectation import CLOSED_FORMS, Expectation, usual_windows
from mtsp_ldp.streams.stream import Stream

EPSILONS = (0.5, 1.0, 2.0, 4.0)


def profile(stream: Stream) -> dict[str, float]:
    """Measure the sizes of a stream: ``n`` active, cells and movement.

    Returns
    -------
    dict
        Numbers by name; ``change`` is the root mean square of a frequency's step from one timestamp to the
        next, and ``rms`` that of a frequency.
    """
    here = stream.active > 0
    f = stream.frequencies[here]
    popular = np.sort(f.mean(axis=0))[::-1]
    steps = np.diff(f, axis=0)
    return {
        "T": stream.length,
        "empty timestamps": int((~here).sum()),
        "d": stream.d,
        "cells never seen": int((stream.counts.sum(axis=0) == 0).sum()),
        "users": stream.users,
        "least active": int(stream.active[here].min()),
        "mean active": round(float(stream.active[here].mean()), 1),
        "most active": int(stream.active.max()),
        "share of the ten busiest cells": round(float(popular[:10].sum()), 4),
        "share of the busiest tenth of the cells": round(float(popular[: max(stream.d // 10, 1)].sum()), 4),
        "change": float(np.sqrt((steps**2).mean())) if steps.size else 0.0,
        "rms": float(np.sqrt((f**2).mean())),
    }


def outlook(stream: Stream, replicate: int | None = None) -> pl.DataFrame:
    """Tabulate expected errors over ε and w: a row a mechanism with a closed form, ε and w.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, window``, ``deviation`` of one frequency where it is published, ``mse``,
        ``floor`` (error of the better constant baseline) and ``wins``.
    """
    expected = Expectation(stream, replicate)
    rows = [
        {
            "mechanism": mechanism,
            "epsilon": epsilon,
            "window": window,
            "deviation": expected.deviation(mechanism, epsilon, window),
            "mse": (error := expected.error(mechanism, epsilon, window)),
            "floor": expected.floor,
            "wins": error < expected.floor,
        }
        for window in usual_windows(stream)
        for mechanism in CLOSED_FORMS
        for epsilon in EPSILONS
    ]
    return pl.DataFrame(rows)
