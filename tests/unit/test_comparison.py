"""Comparisons, ranks, profiles and verdicts on scores whose answer is known."""

from itertools import chain

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats

from mtsp_ldp.evaluation.claims import KINDS, Evidence, judge
from mtsp_ldp.evaluation.comparison import paired, profiles, ranking
from mtsp_ldp.evaluation.intervals import half_width, positive
from mtsp_ldp.evaluation.scoring import score
from mtsp_ldp.evaluation.summary import frequency_errors, summarize
from mtsp_ldp.evaluation.workload import Workload
from mtsp_ldp.experiments.config import CONFIG
from mtsp_ldp.mechanisms.registry import find


def scores(errors, query="frequency", measure="mse", release="raw"):
    """Scores of ``{(dataset, mechanism, epsilon, window): values}``."""
    return pl.DataFrame(
        [
            {
                "dataset": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "window": window,
                "repetition": repetition,
                "release": release,
                "query": query,
                "measure": measure,
                "value": float(value),
            }
            for (dataset, mechanism, epsilon, window), values in errors.items()
            for repetition, value in enumerate(values)
        ]
    )


def evidence(table, movement=None, concentration=None):
    streams = table["dataset"].unique().to_list()
    return Evidence(
        table, movement or dict.fromkeys(streams, 1.0), concentration or dict.fromkeys(streams, 1.0)
    )


def verdict(claim, table, **kwargs):
    (found,) = judge([{"id": "x", "says": "x", "source": "x", **claim}], evidence(table, **kwargs))
    return found


@pytest.mark.parametrize("number", [2, 5, 30])
def test_an_interval_is_students(number):
    values = np.random.default_rng(number).exponential(size=number)
    (row,) = summarize(scores({("s", "a", 1.0, 10): values}, measure="f1_macro")).to_dicts()
    low, high = stats.t.interval(0.95, number - 1, loc=values.mean(), scale=stats.sem(values))
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    # of an error, on the log scale
    (row,) = summarize(scores({("s", "a", 1.0, 10): values})).to_dicts()
    half = stats.t.ppf(0.975, number - 1) * stats.sem(values) / values.mean()
    assert row["low"] == pytest.approx(values.mean() * np.exp(-half))
    assert row["high"] == pytest.approx(values.mean() * np.exp(half))
    assert (row["mean"], row["median"]) == (pytest.approx(values.mean()), pytest.approx(np.median(values)))
    assert row["repetitions"] == number


def test_one_repetition_has_no_interval():
    (row,) = summarize(scores({("s", "a", 1.0, 10): [0.5]})).to_dicts()
    assert (row["low"], row["high"]) == (None, None)


def test_losing_and_winning_are_of_the_whole_interval():
    cell = (1.0, 10)
    found = {
        ("s", "lpa", *cell): [0.9, 1.3, 1.0],
        ("s", "lba", *cell): [1.3, 1.31, 1.32],
        ("s", "lsp", *cell): [0.5, 0.51, 0.52],
        ("s", "mtsp_budget", *cell): [1 + 1e-15] * 3,
        ("s", "uniform", None, None): [1.0],
        ("s", "zero", None, None): [2.0],
    }
    table = frequency_errors(summarize(scores(found)), "s")
    told = {row["mechanism"]: (row["beats_floor"], row["loses_to_floor"]) for row in table.to_dicts()}
    assert told["lpa"] == told["mtsp_budget"] == told["uniform"] == (False, False)
    assert told["lba"] == (False, True)
    assert told["lsp"] == (True, False)


def test_a_large_loss_is_told_though_skewed_values_do_not_decide_it():
    """Three skewed values about thirty times the floor: an interval from below the floor on."""
    cell = (1.0, 10)
    found = {
        ("s", "lsp", *cell): [0.2, 1.0, 88.0],
        ("s", "lba", *cell): [0.2, 0.3, 0.4],
        ("s", "uniform", None, None): [1.0],
    }
    summary = summarize(scores(found))
    assert (summary["low"].drop_nulls() > 0).all()
    table = frequency_errors(summary, "s")
    told = {row["mechanism"]: (row["loses_to_floor"], row["above_floor"]) for row in table.to_dicts()}
    assert told == {"lsp": (False, True), "lba": (False, False), "uniform": (False, False)}


def test_a_closed_form_decides():
    found = {("s", "lsp", 1.0, 10): [0.2, 1.0, 88.0], ("s", "uniform", None, None): [1.0]}
    for expected, loses, wins in ((30.0, True, False), (0.9, False, True)):
        known = pl.DataFrame(
            [("s", "lsp", 1.0, 10, expected)],
            schema=["dataset", "mechanism", "epsilon", "window", "expected"],
            orient="row",
        )
        table = frequency_errors(summarize(scores(found), known), "s").filter(pl.col("mechanism") == "lsp")
        (row,) = table.to_dicts()
        assert (row["loses_to_floor"], row["beats_floor"], row["above_floor"]) == (
            loses,
            wins,
            not wins and not loses,
        )
        assert row["expected"] == expected


def test_intervals_of_nothing_and_of_equal_values():
    half = half_width(pl.Series([0.0, None, 1.0]), pl.Series([3, 1, 2]))
    low, high = positive(pl.Series([0.0, 5.0, 1.0]), half)
    assert (low[0], high[0]) == (0.0, 0.0)
    assert (low[1], high[1]) == (None, None)
    assert low[2] == pytest.approx(1 / high[2])


def test_a_ratio_is_paired_by_repetition():
    base = np.array([1.0, 10.0, 100.0, 1000.0])
    table = scores({("s", "a", 1.0, 10): base / 2 * [1, 1.1, 0.9, 1], ("s", "b", 1.0, 10): base})
    (row,) = paired(table, "a", "b").to_dicts()
    logs = np.log([0.5, 0.55, 0.45, 0.5])
    low, high = stats.t.interval(0.95, 3, logs.mean(), stats.sem(logs))
    assert row["value"] == pytest.approx(np.exp(logs.mean()))
    assert (row["low"], row["high"]) == pytest.approx((np.exp(low), np.exp(high)))
    assert row["better"] is True
    assert paired(table, "b", "a")["better"].to_list() == [False]


def test_what_the_interval_does_not_decide_stays_open():
    table = scores({("s", "a", 1.0, 10): [1, 2, 3], ("s", "b", 1.0, 10): [2, 1, 3.1]})
    assert paired(table, "a", "b")["better"].to_list() == [None]
    # one repetition decides nothing, and zero errors have no ratio
    assert paired(scores({("s", "a", 1.0, 10): [1], ("s", "b", 1.0, 10): [2]}), "a", "b").is_empty()
    assert paired(scores({("s", "a", 1.0, 10): [0, 0], ("s", "b", 1.0, 10): [2, 1]}), "a", "b").is_empty()


def test_more_is_better_where_it_is_no_error():
    table = scores(
        {("s", "a", 1.0, 10): [0.8, 0.82], ("s", "b", 1.0, 10): [0.1, 0.12]}, "event_12_count", "f1_macro"
    )
    (row,) = paired(table, "a", "b", "event_12_count", "f1_macro").to_dicts()
    assert row["value"] == pytest.approx(0.7)
    assert row["better"] is True


def many(order, streams=("s1", "s2", "s3", "s4"), repetitions=3):
    """Errors such that mechanisms come in this order in every cell."""
    rng = np.random.default_rng(1)
    return scores(
        {
            (stream, name, epsilon, window): (place + 1) * (1 + 0.01 * rng.random(repetitions))
            for stream in streams
            for epsilon in (1.0, 2.0)
            for window in (10, 20)
            for place, name in enumerate(order)
        }
    )


def test_ranks_are_tested_over_streams_not_over_cells():
    found = ranking(summarize(many(["lsp", "lpa", "lbu"])))
    assert found.ranks.rows() == [("lsp", 1.0), ("lpa", 2.0), ("lbu", 3.0)]
    assert found.streams == 4
    # four blocks of three in the same order: Friedman's statistic is 8, with 2 degrees of freedom
    assert found.p_value == pytest.approx(stats.chi2.sf(8, 2))
    # Demšar 2006: q = 2.343 for three
    assert found.critical == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=2e-3)
    two = ranking(summarize(many(["lsp", "lpa", "lbu"], streams=("s1", "s2"))))
    assert (two.streams, two.p_value, two.critical) == (2, None, None)


def test_floors_and_variants_have_no_rank():
    table = many(["zero", "lsp", "mtsp_budget.no_pruning", "lpa", "lbu"])
    assert ranking(summarize(table)).ranks["mechanism"].to_list() == ["lsp", "lpa", "lbu"]


def test_a_profile_is_a_share_of_cells():
    table = scores(
        {
            ("s", "a", 1.0, 10): [1, 1],
            ("s", "b", 1.0, 10): [3, 3],
            ("s", "a", 2.0, 10): [5, 5],
            ("s", "b", 2.0, 10): [5, 5],
        }
    )
    found = profiles(summarize(table), [1, 2, 3])
    assert found.filter(pl.col("mechanism") == "a")["share"].to_list() == [1, 1, 1]
    assert found.filter(pl.col("mechanism") == "b")["share"].to_list() == [0.5, 0.5, 1]


BETTER = {"kind": "better", "pairs": [["a", "b"]]}


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        ({1.0: [1, 1.1], 2.0: [1, 1.1]}, {1.0: [3, 3.1], 2.0: [3, 3.1]}, "holds"),
        ({1.0: [3, 3.1], 2.0: [3, 3.1]}, {1.0: [1, 1.1], 2.0: [1, 1.1]}, "fails"),
        ({1.0: [1, 1.1], 2.0: [3, 3.1]}, {1.0: [3, 3.1], 2.0: [1, 1.1]}, "mixed"),
        ({1.0: [1, 9], 2.0: [9, 1]}, {1.0: [1, 2], 2.0: [2, 1]}, "not decided"),
        # one for, or one against, but most of them open: too little for a verdict
        ({0.5: [1, 1.1], 1.0: [1, 9], 2.0: [9, 1]}, {0.5: [3, 3.1], 1.0: [1, 2], 2.0: [2, 1]}, "not decided"),
        ({0.5: [3, 3.1], 1.0: [1, 9], 2.0: [9, 1]}, {0.5: [1, 1.1], 1.0: [1, 2], 2.0: [2, 1]}, "not decided"),
    ],
)
def test_a_verdict_counts_decided_cells(a, b, word):
    table = scores(
        {
            ("s", name, epsilon, 10): values
            for name, side in (("a", a), ("b", b))
            for epsilon, values in side.items()
        }
    )
    assert verdict(BETTER, table).verdict == word


def test_ties_give_no_verdict():
    rng = np.random.default_rng(1)
    words = []
    for _ in range(40):
        cells = {
            ("s", name, 1.0, window): rng.lognormal(size=5) for name in ("a", "b") for window in range(10, 70)
        }
        words.append(verdict(BETTER, scores(cells)).verdict)
    assert set(words) == {"not decided"}


def test_less_is_better_for_every_error():
    table = pl.concat([scores({("s", "mtsp_budget", 1.0, 10): [1, 1.1], ("s", "lpu", 1.0, 10): [3, 3.1],
                               ("s", "lsp", 1.0, 10): [4, 4.1]}, measure="mae")])  # fmt: skip
    claim = {"kind": "best", "mechanisms": ["mtsp_budget"], "measure": "mae"}
    assert verdict(claim, table).verdict == "holds"
    assert "ratio to the best other 0.3" in verdict(claim, table).numbers


def test_what_was_not_run_is_not_decided():
    found = verdict({"kind": "better", "pairs": [["a", "c"]]}, many(["a", "b"]))
    assert (found.verdict, found.where) == ("not decided", "")
    found = verdict({**BETTER, "epsilon": 20}, many(["a", "b"]))
    assert found.verdict == "not decided"


def test_very_large_budgets_count_only_where_a_claim_names_them():
    cells = {("s", "a", 1.0, 10): [1, 1.1], ("s", "b", 1.0, 10): [3, 3.1]}
    table = scores({**cells, ("s", "a", 50.0, 10): [3, 3.1], ("s", "b", 50.0, 10): [1, 1.1]})
    assert verdict(BETTER, table).verdict == "holds"
    assert verdict({**BETTER, "epsilon": 20}, table).verdict == "fails"


def test_skewed_streams_only_where_a_claim_says_so():
    table = many(["a", "b"])
    shares = {"s1": 0.9, "s2": 0.1, "s3": 0.2, "s4": 0.29}
    found = verdict({**BETTER, "streams": "skewed"}, table, concentration=shares)
    assert found.where == "s1: 4 for, 0 against of 4"


def test_the_best_of_ours_meets_the_best_of_the_others():
    table = many(["lsp", "mtsp_population", "lpa", "mtsp_budget"])
    claim = {"kind": "best", "mechanisms": ["mtsp_budget", "mtsp_population"]}
    assert verdict(claim, table).verdict == "fails"
    assert verdict(claim, many(["mtsp_budget", "lsp", "mtsp_population"])).verdict == "holds"


def test_a_trend_compares_the_ends_of_an_axis():
    table = scores({("s", "lbu", 1.0, w): [w, 1.1 * w] for w in (10, 20, 50)})
    claim = {"kind": "trend", "mechanism": "lbu", "along": "window"}
    found = verdict(claim, table)
    assert found.verdict == "holds"
    assert "5 in the median" in found.numbers
    falling = scores({("s", "lbu", 1.0, w): [1 / w, 1.1 / w] for w in (10, 50)})
    assert verdict(claim, falling).verdict == "fails"


def test_sampling_should_win_on_the_stablest_and_lose_on_the_liveliest():
    stable = many(["lsp", "lpa", "lbu"], streams=("still",))
    lively = many(["lpa", "lbu", "lsp"], streams=("lively",))
    movement = {"still": 0.01, "lively": 0.9}
    claim = {"kind": "sampling"}
    assert verdict(claim, pl.concat([stable, lively]), movement=movement).verdict == "holds"
    swapped = {"still": 0.9, "lively": 0.01}
    assert verdict(claim, pl.concat([stable, lively]), movement=swapped).verdict == "fails"


KEYS = {
    "better": {"pairs", "query", "measure", "streams", "epsilon"},
    "best": {"mechanisms", "query", "measure", "against", "release"},
    "trend": {"mechanism", "along"},
    "sampling": set(),
}


def test_the_claims_of_the_project_name_what_exists(stream):
    claims = yaml.safe_load((CONFIG / "claims.yaml").read_text())
    variants = yaml.safe_load((CONFIG / "experiment" / "claims.yaml").read_text())["variants"]
    assert len({claim["id"] for claim in claims}) == len(claims)
    log = stream("log")
    queries = {query for query, *_ in score(_release(log), Workload(log))}
    for claim in claims:
        assert claim["kind"] in KINDS
        assert set(claim) <= {"id", "says", "source", "kind", *KEYS[claim["kind"]]}
        for name in [*chain(*claim.get("pairs", [])), *claim.get("mechanisms", [])]:
            base, _, variant = name.partition(".")
            assert find(base)
            assert not variant or variant in variants
        assert claim.get("query", "frequency") in queries


def _release(stream):
    from mtsp_ldp import simulate

    return simulate(stream, "uniform", epsilon=1.0, window=10)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="x: kind='sometimes': must be one of better"):
        verdict({"kind": "sometimes"}, many(["a", "b"]))
