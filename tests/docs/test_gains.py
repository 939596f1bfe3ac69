"""The page of MTSP-F: its tables from committed results, and from a small experiment by hand."""

import numpy as np
import polars as pl
import pytest

import gains
from clones import ROOT
from mtsp_ldp import Stream
from mtsp_ldp.evaluation.runs import run_cell
from mtsp_ldp.streams.facts import StreamFacts

PAGE = (ROOT / gains.PAGE).read_text(encoding="utf-8")


def test_the_tables_are_what_the_committed_results_give():
    table, shares = (gains.read_table(ROOT / path) for path in (gains.GAINS, gains.SHARES))
    assert gains.inserted(PAGE, gains.markdown(table, shares)) == PAGE
    assert f"]({gains.PICTURE.relative_to('docs')})" in PAGE
    assert (ROOT / gains.PICTURE).read_text(encoding="utf-8").startswith("<?xml")
    # four tasks, and six events of two measures, each raw and projected, in 25 cells a stream
    compared = table.filter(pl.col("other") != "")
    assert compared.group_by("dataset").len()["len"].unique().to_list() == [25 * 2 * (4 + 6 * 2)]
    assert set(shares["part"]) == set(gains.PARTS)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(3)
    counts = rng.multinomial(20000, [0.5, 0.3, 0.1, 0.1], 60) + 4000 * (np.arange(60) % 20 > 15)[:, None]
    stream = Stream.from_counts(counts, facts=StreamFacts(dataset="made", title="Made"))
    given = {"epsilon": 1.0, "window": 5, "repetitions": 4, "seed": 1}
    names = ["lpu", "lsp", "mtsp_filter"]
    floor = run_cell(stream, "uniform", {}, **{**given, "epsilon": None, "window": None})[0]
    return pl.concat([floor, *(run_cell(stream, name, {}, **given)[0] for name in names)])


def test_a_gain_is_the_best_others_error_over_ours(scores):
    table = gains.gains(scores)
    for release in ("raw", "projected"):
        (row,) = table.filter(query="range", measure="mse", release=release).to_dicts()
        means = {
            name: part["value"].to_numpy()
            for (name,), part in scores.filter(query="range", measure="mse", release=release).group_by(
                "mechanism"
            )
        }
        best = min(("lpu", "lsp"), key=lambda name: means[name].mean())
        assert row["other"] == best
        ratio = np.exp(np.log(means[best] / means["mtsp_filter"]).mean())
        assert row["value"] == pytest.approx(ratio, rel=1e-3)
        assert row["low"] < row["value"] < row["high"]
        assert row["better"] is (True if row["low"] > 1 else False if row["high"] < 1 else None)
    (row,) = table.filter(query="event_3_count", measure="auc_macro", release="raw").to_dicts()
    auc = {
        name: part["value"].mean()
        for (name,), part in scores.filter(
            query="event_3_count", measure="auc_macro", release="raw"
        ).group_by("mechanism")
        if name != "uniform"
    }
    ours = auc.pop("mtsp_filter")
    assert row["value"] == pytest.approx(ours - max(auc.values()), rel=1e-3)


def test_losses_are_red_and_what_is_open_is_named():
    row = {"value": 0.9, "better": False, "other": "lpu"}
    assert gains._gain(row) == '<span class="loss">0.90 (LPU)</span>'
    assert gains._gain({**row, "better": None}) == "0.90 (LPU, open)"
    assert gains._gain({**row, "value": 3.0, "better": True}) == "3.00"


def test_a_page_without_a_mark_is_told():
    with pytest.raises(ValueError, match="made by python tools/gains"):
        gains.inserted("nothing", {"errors": "|"})


def test_runs_that_are_not_there_are_told_in_one_line(tmp_path):
    with pytest.raises(SystemExit, match="no such folder; its experiment was not run"):
        gains.main(["--data", str(tmp_path)])
