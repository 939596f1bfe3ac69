"""Audits and equality in law."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mtsp_ldp.audits import equality
from mtsp_ldp.audits import leakage as audit
from mtsp_ldp.mechanisms.registry import mechanisms

NAMES = [name for name, entry in mechanisms().items() if entry.cls.reads_data]


def test_the_audit_reaches_epsilon_and_not_more():
    table = audit.empirical_table()
    assert (table["share"] >= 0.95).all()
    assert (table["share"] <= 1).all()


@pytest.mark.parametrize("epsilon", audit.EPSILONS)
def test_five_per_cent_too_much_fails_the_audit(epsilon):
    assert audit.audit_oue(1.05 * epsilon, 2, audit.CONFIDENCE, claimed=epsilon) > epsilon


def test_the_lower_bound_covers():
    rng = np.random.default_rng(0)
    bounds = [
        audit.lower_bound(rng.binomial(1000, 0.5), rng.binomial(1000, 0.25), 1000, 0.9) for _ in range(2000)
    ]
    assert (np.array(bounds) > np.log(2)).mean() < 0.1


def test_the_exact_loss_of_known_strategies():
    each = audit.exact_loss(lambda heard: (len(heard), 0.25) if len(heard) < 6 else None, 6, 4)
    assert each == pytest.approx(1.0)
    once = audit.exact_loss(lambda heard: (4 * len(heard), 1.0) if len(heard) < 2 else None, 8, 4)
    assert once == pytest.approx(1.0)


def test_exactly_epsilon_and_no_more_for_whole_mechanisms():
    table = audit.exact_table()
    assert set(table["mechanism"]) == set(NAMES)
    assert (table["loss"] <= 1 + 1e-12).all()
    spent = ["lbu", "lpu", "lsp", "lpa", "lpd", "lba", "mtsp_budget", "mtsp_population"]
    full = table.filter(pl.col("mechanism").is_in(spent)).group_by("mechanism").agg(pl.col("loss").max())
    assert (full["loss"] > 1 - 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_window_of_w_minus_one_fails_the_exact_audit(name):
    steps = 4 if mechanisms()[name].division == "population" else 3
    losses = [
        audit.exact_loss(
            audit.mechanism_asks(name, epsilon=1.0, window=3, steps=steps, others=30, seed=seed, drive=2),
            steps,
            3,
        )
        for seed in range(3)
    ]
    assert max(losses) > 1.1


@pytest.mark.parametrize("name", NAMES)
def test_simulation_and_users_are_equal_in_law(name):
    gap, ratio, p = equality.compare(name)
    print(f"{name}: means {gap:.2f} standard errors apart, variance ratio {ratio:.2f}, p {p:.2f}")
    assert p > equality.FAMILY_ERROR / len(NAMES)
    assert gap < 5


def test_the_equality_test_can_fail():
    class Louder(equality.PerUser):
        def _answer(self, t, questions, oracles, asked):
            answers = super()._answer(t, questions, oracles, asked)
            return [answer._replace(estimates=answer.estimates * 1.1) for answer in answers]

    ours, theirs = (equality.releases(kind, "lbu", 2000)[:, 3, 0] for kind in (equality.Panel, Louder))
    assert stats.ks_2samp(ours, theirs).pvalue < 1e-3


def test_a_still_user_is_found_in_the_end():
    table = audit.exposure_table()
    part = table.filter(pl.col("epsilon") == 2.0, pl.col("cells") == 64).sort("windows")
    assert part["accuracy"].is_sorted()
    assert part["accuracy"][0] < 0.2
    assert part["accuracy"][-1] > 0.9
