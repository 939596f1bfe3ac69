"""Measures of a release against the truth. Pure functions on arrays; what is undefined is NaN, never 0."""

from dataclasses import dataclass

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray

MRE_FLOOR = 1e-3
_STILL = 1e-15  # product of standard deviations of frequencies that differ by rounding only
ERRORS = ("mse", "mae", "mre")
"""Measures that are better when smaller; they are positive, and compared as ratios."""


def errors(estimate: FloatArray, truth: FloatArray, *, relative: bool = False) -> dict[str, float]:
    """Compute the mean squared and absolute error, and the mean relative error if asked for.

    Parameters
    ----------
    estimate, truth
        Frequencies (0-1) of the same shape; rows whose truth is NaN (nobody there) are left out.
    relative
        Add ``mre``, with denominators of at least 0.001.

    Returns
    -------
    dict
        ``mse``, ``mae`` and perhaps ``mre``; NaN if no row is left.
    """
    there = ~np.isnan(truth).any(axis=1)
    gap, true = (estimate - truth)[there], truth[there]
    found = {"mse": _mean(gap**2), "mae": _mean(np.abs(gap))}
    if relative:
        found["mre"] = _mean(np.abs(gap) / np.maximum(true, MRE_FLOOR))
    return found


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else float("nan")


NORMAL = 1.959964
"""Standard deviations to each side of a normal number that hold 95 % of it."""


def coverage(estimate: FloatArray, variance: FloatArray, truth: FloatArray) -> float:
    """Compute the share of truths in the 95 % intervals of frequencies, cut at 0; NaN truths are left out."""
    half = NORMAL * np.sqrt(variance)
    inside = (np.maximum(estimate - half, 0.0) <= truth) & (truth <= estimate + half)
    return _mean(inside[~np.isnan(truth)].astype(np.float64))


def change_coverage(estimate: FloatArray, variance: FloatArray, truth: FloatArray) -> float:
    """Compute the share of true changes in their 95 % intervals."""
    inside = np.abs(estimate - truth) <= NORMAL * np.sqrt(variance)
    return _mean(inside[~np.isnan(truth)].astype(np.float64))


def follows(estimate: FloatArray, truth: FloatArray) -> float:
    """Compute the median over cells of the correlation in time with the truth, ``(T, C)``.

    Cells that never change, in truth or in the release, are left out; rows whose truth is NaN too.
    """
    there = ~np.isnan(truth).any(axis=1)
    ours, true = estimate[there], truth[there]
    ours, true = ours - ours.mean(axis=0), true - true.mean(axis=0)
    scale = np.sqrt((ours**2).mean(axis=0) * (true**2).mean(axis=0))
    moves = scale > _STILL
    return float(np.median((ours * true).mean(axis=0)[moves] / scale[moves])) if moves.any() else float("nan")


def event_threshold(change: FloatArray, share: float = 0.05) -> float:
    """Find the smallest positive increase that at most this share of the timestamps reach.

    Parameters
    ----------
    change
        True changes of one monitored value, ``(T',)``.

    Returns
    -------
    float
        The threshold, which is one of the changes; NaN if no positive one is so rare.
    """
    values = np.sort(change)
    reach = values.size - np.searchsorted(values, values, side="left")
    rare = (values > 0) & (reach <= share * values.size)
    return float(values[rare.argmax()]) if rare.any() else float("nan")


SAME = 1 + 1e-9
"""Factor within which two errors are equal: a release that never moves differs from a floor by rounding."""


def ratio(part: float, whole: float) -> float:
    """Divide part by whole; NaN where the whole is 0."""
    return part / whole if whole else float("nan")


def detection(happens: BoolArray, flagged: BoolArray) -> dict[str, float]:
    """Compute precision, recall and F1 of flags; precision is NaN where nothing was flagged."""
    hits = int((happens & flagged).sum())
    events, flags = int(happens.sum()), int(flagged.sum())
    return {
        "precision": ratio(hits, flags),
        "recall": ratio(hits, events),
        "f1": ratio(2 * hits, events + flags) if events else float("nan"),
    }


def roc(happens: BoolArray, score: FloatArray) -> dict[str, float]:
    """Compute the area under the ROC curve, and the best attainable recall at 1 % and 5 % false positives.

    Ties count one half in the area; no interpolation between attainable points. Undefined without
    events, or with nothing else.
    """
    yes, no = score[happens], np.sort(score[~happens])
    if not yes.size or not no.size:
        return dict.fromkeys(("auc", "tpr_at_1", "tpr_at_5"), float("nan"))
    below = np.searchsorted(no, yes, side="left") + np.searchsorted(no, yes, side="right")
    found = {"auc": float(below.mean() / (2 * no.size))}
    for percent in (1, 5):
        allowed = int(percent / 100 * no.size + 1e-9)
        # flag what is above the first non-event that may not be flagged any more
        bar = no[no.size - 1 - allowed] if allowed < no.size else -np.inf
        found[f"tpr_at_{percent}"] = float((yes > bar).mean())
    return found


@dataclass(frozen=True)
class Runs:
    """Recall of runs of consecutive event timestamps, and how late the first flag of a run comes."""

    number: int
    found: int
    delay: int


def event_runs(happens: BoolArray, flagged: BoolArray) -> Runs:
    """Count the runs of one monitored value, those with a flag in them, and the sum of their delays."""
    edges = np.diff(np.r_[0, happens.astype(np.int8), 0])
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    flags = np.flatnonzero(flagged)
    place = np.searchsorted(flags, starts)
    first = np.append(flags, np.iinfo(np.int64).max)[place]
    hit = first < ends
    return Runs(starts.size, int(hit.sum()), int((first - starts)[hit].sum()))
