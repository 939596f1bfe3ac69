"""Where nothing can win, recommend seldom says to use something, whatever the seed."""

import numpy as np
import polars as pl

from mtsp_ldp import Stream
from mtsp_ldp.evaluation.recommendation import advise
from mtsp_ldp.report.advice import sentence

STREAMS = 25


def test_false_advice_is_rare():
    false = 0
    for seed in range(STREAMS):
        counts = np.random.default_rng(seed).multinomial(100, np.full(8, 1 / 8), size=30)
        advice = advise(Stream.from_counts(counts), [0.5, 1.0], [10], lambda name: {}, seed=seed)
        errors = advice.table.filter(pl.col("method") == "closed form")
        assert not errors["wins"].any()
        false += "use " in sentence(advice)
    print(f"{false} of {STREAMS} streams on which nothing can win")
    assert false <= 3  # at 5 % more than that have a chance of 3 %
