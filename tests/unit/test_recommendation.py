"""Recommendations against simulations of the test's own, and on streams that LDP cannot carry."""

import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.expectation import Expectation
from mtsp_ldp.evaluation.recommendation import advise, slice_stream
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.report.advice import sentence
from mtsp_ldp.stages import recommend

READERS = [name for name, entry in mechanisms().items() if entry.cls.reads_data]


def raw(advice):
    return advice.table.filter(pl.col("release") == "raw")


def no_options(name):
    return {}


def jumping(users, length=60, d=64, every=7):
    """Two crowded cells that change every few timestamps."""
    rng = np.random.default_rng(0)
    shares = np.full((length, d), 0.2 / d)
    for t in range(length):
        if t % every == 0:
            hot = rng.choice(d, 2, replace=False)
        shares[t, hot] += (0.5, 0.3)
    return Stream.from_counts(np.round(shares * users), population=2 * users)


def growing(users, length=60):
    """Two cells, one of which grows slowly, as on the stream Log."""
    ones = np.round(users * 0.25 / (1 + np.exp(-0.01 * np.arange(length))))
    return Stream.from_counts(np.column_stack([users - ones, ones]))


def panel(users, length=40, d=8):
    rng = np.random.default_rng(1)
    t, user = np.nonzero(rng.random((length, users)) < 0.8)
    return Stream.from_panel(t, user, rng.integers(0, d, t.size) // 3, d, length=length)


@pytest.mark.parametrize(
    ("stream", "epsilon", "window", "best_published"),
    [
        (growing(20000), 1.0, 10, "lsp"),
        (jumping(200000), 1.0, 20, "lpu"),
        (jumping(20000, every=15), 1.0, 20, "mtsp_population"),
    ],
)
def test_it_picks_what_simulations_say(stream, epsilon, window, best_published):
    advice = advise(stream, [epsilon], [window], no_options)
    assert advice.whole
    errors, projected = {}, {}
    for name in READERS:
        # other random numbers than the recommendation's
        runs = [
            simulate(stream, name, epsilon=epsilon, window=window, seed=77, repetition=repetition)
            for repetition in range(5)
        ]
        for found, part in ((errors, runs), (projected, [run.projected() for run in runs])):
            found[name] = np.mean([((run.frequencies - stream.frequencies) ** 2).mean() for run in part])
    assert min((name for name in errors if name != "mtsp_filter"), key=errors.get) == best_published
    best = min(errors, key=errors.get)
    assert raw(advice).filter("chosen")["mechanism"].to_list() == [best]
    assert sentence(advice).startswith(f"As released: use {best} ")
    (chosen,) = advice.table.filter("chosen", pl.col("release") == "projected")["mechanism"]
    tied = advice.table.filter("tied", pl.col("release") == "projected")["mechanism"].to_list()
    assert min(projected, key=projected.get) in (chosen, *tied)
    assert projected[chosen] <= 1.5 * min(projected.values())
    assert f"costs no privacy: use {chosen} " in sentence(advice)
    for row in advice.table.filter(pl.col("method") == "simulation").to_dicts():
        found = errors if row["release"] == "raw" else projected
        spread = 4 * row["standard_error"]
        assert row["mse"] == pytest.approx(found[row["mechanism"]], rel=0.75, abs=spread)
        assert 0 < row["standard_error"] < row["mse"]
        # Student's t of 4 degrees of freedom, on the log scale
        assert row["high"] == pytest.approx(
            row["mse"] * np.exp(2.776445 * row["standard_error"] / row["mse"])
        )


def test_a_simulated_error_has_the_standard_error_of_its_mean():
    stream = growing(5000, 30)
    (row,) = (
        raw(advise(stream, [2.0], [10], no_options, repetitions=3, seed=5)).filter(mechanism="lba").to_dicts()
    )
    runs = [
        simulate(stream, "lba", epsilon=2.0, window=10, seed=5, repetition=repetition)
        for repetition in range(3)
    ]
    errors = [((run.frequencies - stream.frequencies) ** 2).mean() for run in runs]
    assert row["mse"] == pytest.approx(np.mean(errors))
    assert row["standard_error"] == pytest.approx(stats.sem(errors))


@pytest.mark.parametrize("stream", [jumping(50), panel(50)])
def test_on_too_few_users_it_says_to_publish_nothing_and_from_which_budget_on_it_helps(stream):
    advice = advise(stream, [0.5, 1.0], [10, 20], no_options)
    assert not advice.table["wins"].any()
    assert not advice.table["chosen"].any()
    told = sentence(advice)
    assert told.startswith(("As released: publish nothing; ", "As released: publish nothing at "))
    assert re.search("\nProjected, which costs no privacy: publish nothing(;|,| at) ?", told)
    assert "use" not in told
    expected = Expectation(stream)
    assert list(advice.later) == [10, 20]
    for window, found in advice.later.items():
        name, least = found
        assert f"at w = {window} {name} wins from ε = {least:.2g} on" in told
        assert expected.error(name, least * 1.01, window) < expected.floor
        assert all(
            expected.error(other, least * 0.99, window) >= expected.floor for other in ("lbu", "lsp", "lpu")
        )


def test_where_nothing_helps_it_says_so():
    # everybody spread evenly, for ever: 1/d is the truth
    advice = advise(Stream.from_counts(np.full((30, 4), 10)), [1.0], [10], no_options)
    assert sentence(advice) == (
        "As released: publish nothing at ε = 1 (w = 10); publishing nothing errs by 0, "
        "and by closed form at w = 10 not even ε = 100 helps.\n"
        "Projected, which costs no privacy: publish nothing at ε = 1 (w = 10); "
        "publishing nothing errs by 0."
    )


def test_few_repetitions_recommend_nothing_that_was_simulated():
    advice = advise(growing(20000), [1.0], [10], no_options, repetitions=4)
    assert set(advice.table.filter("wins")["method"]) == {"closed form"}
    told = sentence(advice)
    assert told.startswith(
        "Fewer than 5 repetitions tell nothing: nothing that was simulated is recommended."
    )
    assert "Projected, which costs no privacy: publish nothing, unless more repetitions tell that " in told


def test_the_slice_lies_where_users_are():
    counts = np.zeros((400, 2), dtype=int)
    counts[:60], counts[-60:] = [30, 10], [20, 20]
    advice = advise(Stream.from_counts(counts), [1.0], [5], no_options, repetitions=2, seconds=0.01)
    assert not advice.whole
    assert (counts[advice.first : advice.last + 1].sum(axis=1) > 0).all()
    assert not advice.table["mse"].is_nan().any()


def test_nothing_that_loses_to_a_floor_is_chosen():
    advice = advise(jumping(2000), [2.0, 0.5], [20, 10], no_options)
    for _, part in advice.table.group_by("release"):
        floor = part.filter(pl.col("method") == "floor")["mse"].min()
        assert (part.filter("wins")["high"] < floor).all()
    picked = advice.table.filter(pl.col("chosen") | pl.col("tied"))
    assert picked["wins"].all()
    for _, part in advice.table.filter("wins").group_by("release", "epsilon", "window"):
        assert part.filter("chosen")["mse"].item() == part["mse"].min()
    assert "; use lpu or " in sentence(advice)
    assert advice.table["epsilon"].unique(maintain_order=True).to_list() == [0.5, 2.0]


def test_it_is_computed_where_an_option_leaves_the_closed_form():
    stream = growing(2000, 30)
    advice = advise(stream, [1.0], [10], lambda name: {"phase": 0} if name == "lsp" else {}, repetitions=2)
    method = dict(raw(advice).select("mechanism", "method").rows())
    assert method["lsp"] == "simulation"
    assert method["lbu"] == method["lpu"] == "closed form"


@pytest.mark.parametrize("stream", [growing(1000, 500), panel(200, 300)])
def test_a_long_stream_is_cut_to_its_middle(stream):
    advice = advise(stream, [1.0], [5], no_options, repetitions=2, seconds=0.2)
    length = advice.last - advice.first + 1
    assert not advice.whole
    assert 15 <= length < stream.length
    assert abs(advice.first - (stream.length - 1 - advice.last)) <= 1
    part = slice_stream(stream, advice.first, length)
    assert (part.counts == stream.counts[advice.first : advice.last + 1]).all()
    assert (part.users, part.is_panel) == (stream.users, stream.is_panel)
    if stream.is_panel:
        for t in range(length):
            for ours, theirs in zip(part.at(t), stream.at(advice.first + t), strict=True):
                assert (ours == theirs).all()
    floors = dict(raw(advice).filter(pl.col("method") == "floor").select("mechanism", "mse").rows())
    assert floors == pytest.approx(Expectation(part).floors)


def told(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["recommend", *arguments])
    recommend.main()
    return capsys.readouterr().out


def test_the_stage_prints_a_table_and_a_sentence_the_same_twice(tmp_path, monkeypatch, capsys):
    growing(20000).write(tmp_path / "streams" / "log.parquet")
    where = [f"data={tmp_path}", "dataset=log", "repetitions=5", "window=[10]"]
    grid = told(monkeypatch, capsys, *where)
    assert grid == told(monkeypatch, capsys, *where)
    assert "w = 10" in grid
    assert "ε = 0.5" in grid
    assert "5 simulated repetitions" in grid
    one = told(monkeypatch, capsys, *where, "epsilon=1", f"output={tmp_path / 'advice.csv'}")
    assert one.splitlines()[-2].startswith(
        "As released: use MTSP-F (ours) "
    )  # and what is not told apart from it
    assert one.splitlines()[-2].endswith(" at ε = 1 (w = 10); publishing nothing errs by 0.13.")
    table = pl.read_csv(tmp_path / "advice.csv")
    assert table.filter(pl.col("chosen"), pl.col("release") == "raw")["mechanism"].to_list() == [
        "mtsp_filter"
    ]
    assert table["release"].unique(maintain_order=True).to_list() == ["raw", "projected"]
    assert set(table["mechanism"]) == set(mechanisms())
    assert set(table["method"]) == {"closed form", "simulation", "floor"}


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("stream=log", "recommend: stream: unknown key; allowed: accept_terms, "),
        ("dataset=atlantis", "recommend: dataset='atlantis': must be one of brightkite, "),
        ("dataset.nam=3", "recommend: config/dataset/log.yaml: nam: unknown key"),
        ("epsilon=0", "recommend: epsilon=0: must be above 0"),
        ("epsilon=[1,x]", "recommend: epsilon[1]='x': must be a number"),
        ("epsilon=[]", "recommend: epsilon=[]: must be a list of at least one"),
        ("epsilon=[1", "recommend: no viable alternative at input '[1'"),
        ("window=61", "recommend: window=61: must be in 1..60, the timestamps of this stream"),
        ("repetitions=1", "recommend: repetitions=1: must be an integer, at least 2"),
        ("dataset=city", "city.json: no such file; prepare writes it"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path, monkeypatch, capsys, argument, words):
    growing(500).write(tmp_path / "streams" / "log.parquet")
    with pytest.raises(SystemExit) as ended:
        told(monkeypatch, capsys, f"data={tmp_path}", "dataset=log", argument)
    assert words in str(ended.value)
    assert len(str(ended.value).splitlines()) == 1
