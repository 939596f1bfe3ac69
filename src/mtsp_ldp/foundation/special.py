"""Special functions that do not depend on a processor's vector units, as numpy's own do in the last bit.

scipy's are plain C; where they call the C library (all but `exp`), that may still differ in the last bit.
They are imported when first called: that takes longer than most mechanisms' whole run.
"""

import math

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray


def exp(values: FloatArray) -> FloatArray:
    """Compute e^x."""
    from scipy.special import exp2

    return np.asarray(exp2(values * math.log2(math.e)))


def normal_cdf(values: FloatArray) -> FloatArray:
    """Compute the chance Φ(x) that a standard normal number is at most x."""
    from scipy.special import ndtr

    return np.asarray(ndtr(values))


def log_normal_cdf(values: FloatArray) -> FloatArray:
    """Compute ln Φ(x), which does not underflow."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(values))


def hazard(values: FloatArray) -> FloatArray:
    """Compute φ(x)/Φ(x), the density of a standard normal number over its distribution."""
    from scipy.special import erfcx

    return np.asarray(math.sqrt(2 / math.pi) / erfcx(values * -math.sqrt(0.5)))
