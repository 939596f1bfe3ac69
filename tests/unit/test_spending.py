"""The replay of what users spent, against adding up window by window."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtsp_ldp.audits.odometer import WindowOdometer

REPORTERS = 11
SURVEYS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sets(st.integers(0, REPORTERS - 1)),
        st.sampled_from([1.0, 0.1, 1 / 3, 1e-6, 0.7]),
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(SURVEYS, st.integers(1, 7))
def test_is_the_largest_sum_of_any_window(surveys, window):
    spend, t, told = WindowOdometer(REPORTERS, window), 0, []
    for pause, who, epsilon in surveys:
        t += pause
        told.append((t, who, epsilon))
        spend(t, np.array(sorted(who), dtype=np.int64), epsilon)
    sums = [
        math.fsum(epsilon for when, who, epsilon in told if start <= when < start + window and user in who)
        for start in range(t + 1)
        for user in range(REPORTERS)
    ]
    assert spend.largest == pytest.approx(max(sums, default=0.0), rel=1e-15)


def test_many_windows_leave_no_residue():
    spend, rng = WindowOdometer(5, 10), np.random.default_rng(0)
    parts = rng.random(10)
    for t in range(20_000):
        spend(t, np.arange(5), parts[t % 10])
    assert spend.largest == math.fsum(parts)
    assert all(float(a) == float(b) for a, b in pairwise(spend._sums))
