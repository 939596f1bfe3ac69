"""Events: which changes are told, from values alone or from beliefs about them."""

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray
from mtsp_ldp.foundation.special import normal_cdf
from mtsp_ldp.releases.windows import Estimate

PRIOR = 0.02
"""Part of an event that counts as seen and flagged before the first window. Of 0.02, 0.05, 0.1, … 2 it has
the largest F1 on made cities and walks."""
_BINS = 100


def flags(change: Estimate, thresholds: npt.ArrayLike) -> BoolArray:
    """Tell which changes are events, ``(W, Q)``: those that reach their threshold, as far as one can tell.

    Parameters
    ----------
    change
        Changes, in order of time; NaN is no event.
    thresholds
        Change from which on there is an event, ``(Q,)`` or one for all.

    Notes
    -----
    Without variances a change is an event if its value reaches the threshold τ. With them the value m is the
    mean of a belief, and rarely reaches τ; then p = Φ((m - τ) / s) is the chance of an event, with s² the
    mean of the variances so far. It is flagged if p is at least half of the largest F1 that a threshold on
    the chances so far could expect, which makes F1 largest if chances are right (Lipton et al. 2014). Chances
    are kept in hundredths. Before the first window it is as if a small part of an event (`PRIOR`) had been
    seen and flagged: without it a first chance, however small, would be half of the best to be expected.
    Chosen by F1 on made cities and walks alone.
    """
    bars = np.asarray(thresholds, dtype=np.float64)
    if change.variances is None:
        return np.asarray(change.values >= bars)
    known = ~np.isnan(change.values)
    number = np.maximum(np.cumsum(known, axis=0), 1)
    spread = np.sqrt(np.cumsum(np.where(known, change.variances, 0.0), axis=0) / number)
    gap = np.nan_to_num(change.values) - bars
    sure = (gap >= 0).astype(np.float64)
    guessed = known & (change.variances > 0)  # else it is known: nobody was there
    scaled = np.divide(gap, spread, out=np.zeros_like(gap), where=guessed)
    return _flag_by_expected_f1(np.where(guessed, normal_cdf(scaled), np.where(known, sure, 0.0)), known)


def _flag_by_expected_f1(chances: FloatArray, known: BoolArray) -> BoolArray:
    flagged = np.zeros(chances.shape, dtype=bool)
    columns = np.arange(chances.shape[1])
    number, sums = np.zeros((2, _BINS, columns.size))
    number[-1] = sums[-1] = PRIOR
    for t, chance in enumerate(chances):
        place = np.minimum((chance * _BINS).astype(np.int64), _BINS - 1)
        number[place, columns] += known[t]
        sums[place, columns] += chance
        # expected hits if all of a bin and of those above it are flagged
        hits, flagging = (np.cumsum(table[::-1], axis=0) for table in (sums, number))
        expected = 2 * hits / (flagging + hits[-1])
        flagged[t] = known[t] & (chance >= expected.max(axis=0) / 2)
    return flagged
