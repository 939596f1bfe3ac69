import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtsp_ldp.privacy.ledger import PrivacyError, ReporterLedger, WindowLedger
from mtsp_ldp.privacy.units import FULL, to_units


@given(
    st.integers(1, 8),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, FULL + 5)), max_size=60),
)
def test_no_window_ever_exceeds_the_whole(window, requests):
    ledger, spent, now = WindowLedger(window), {}, 0
    for pause, share in requests:
        now += pause
        before = ledger.remaining(now)
        try:
            ledger.debit(now, share)
        except PrivacyError:
            assert ledger.remaining(now) == before < share
        else:
            spent[now] = spent.get(now, 0) + share
    for start in range(now + 1):
        assert sum(spent.get(t, 0) for t in range(start, start + window)) <= FULL


def test_a_share_returns_after_w_steps_and_not_before():
    ledger = WindowLedger(3)
    ledger.debit(0, FULL)
    with pytest.raises(PrivacyError, match="left"):
        ledger.debit(2, 1)
    ledger.debit(3, FULL)


@pytest.mark.parametrize("share", [0, -1, 0.5, float("nan"), True])
def test_refuses_what_is_no_share(share):
    with pytest.raises(PrivacyError, match="share="):
        WindowLedger(3).debit(0, share)


def test_refuses_to_go_back_in_time():
    ledger = WindowLedger(3)
    ledger.debit(5, 1)
    with pytest.raises(PrivacyError, match="already at t=5"):
        ledger.debit(4, 1)


def test_sums_of_equal_shares_leave_no_residue():
    for k in range(1, 200):
        assert 0 <= FULL // 2 - k * to_units(1 / (2 * k)) < k


def test_a_reporter_rests_for_w_steps():
    ledger = ReporterLedger(4, 3)
    ledger.record(0, np.array([1, 2]))
    with pytest.raises(PrivacyError, match="reporter 2 already reported at t=0"):
        ledger.record(2, np.array([0, 2]))
    ledger.record(3, np.array([2]))
