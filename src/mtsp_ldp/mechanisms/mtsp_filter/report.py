"""What one report says: an observation of every cell's frequency, and its variance.

The variance is that at the *predicted* frequency. At the observed one it would share the observation's error:
a cell that comes out low would be trusted more.
"""

from typing import NamedTuple

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.privacy.survey import Answer


class Observation(NamedTuple):
    """Observed frequencies and the variances of their errors, ``(d,)``."""

    values: FloatArray
    variances: FloatArray


def observe(answer: Answer, predicted: FloatArray, *, sums_to_one: bool) -> Observation:
    """Turn an answer about the cells into an observation.

    Parameters
    ----------
    answer
        Answer to the question which cell a user is in.
    predicted
        Frequencies that are expected before the answer, ``(d,)``.
    sums_to_one
        True if the frequencies sum to 1: they are shares of those who report.

    Notes
    -----
    With m reporters among n users, chances p and q of a 1, and the predicted frequency f:

    - perturbation: E = (f p (1 - p) + (1 - f) q (1 - q)) / (m (p - q)^2), independent from cell to cell;
    - sampling, without replacement: S = f (1 - f) / m · (n - m) / (n - 1).

    Unary reports are not bound to sum to 1, so their sum is an error that is seen. Its part of each cell is
    taken away, z - E / ΣE · (Σz - 1), which leaves E (1 - E / ΣE). At d = 2 this halves the noise. Reports
    that name one cell sum to 1 already, and nothing is to be gained.
    """
    oracle, m, n = answer.oracle, answer.reporters, answer.active
    share = np.minimum(np.maximum(predicted, 0.0), 1.0)
    own = share * (oracle.p * (1 - oracle.p)) + (1 - share) * (oracle.q * (1 - oracle.q))
    own /= m * oracle.gap**2
    sampling = share * (1 - share) * (max(n - m, 0) / (m * max(n - 1, 1)))
    values = answer.estimates
    if sums_to_one and not oracle.one_hot:
        part = own / own.sum()
        values = values - part * (values.sum() - 1)
        own *= 1 - part
    return Observation(values, own + sampling)
