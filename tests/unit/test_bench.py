"""Every part of the bench that needs no Snakemake runs at toy size, and its results have their shape."""

import math

import polars as pl
import pytest
from bench import growth, large, loops, oue, preparing
from bench.measure import Finding, in_turns, machine, python, slope, watched
from bench.page import write_page, write_part


@pytest.mark.parametrize("part", [growth, large, loops, oue, preparing])
def test_a_part_finds_finite_numbers(part, tmp_path):
    found = part.run(toy=True)
    assert all(math.isfinite(finding.value) for finding in found)
    assert len({(finding.what, finding.quantity) for finding in found}) == len(found)
    table = write_part(tmp_path, "part", "a title", found, machine())
    assert pl.read_parquet(tmp_path / "part.parquet").equals(table)
    text = write_page(tmp_path, ["part", "absent"]).read_text()
    assert all(finding.what in text for finding in found)


@pytest.mark.parametrize("peer", ["pure_ldp", "multi_freq"])
def test_a_peer_estimates_the_same_frequencies(peer):
    pytest.importorskip("pure_ldp" if peer == "pure_ldp" else "multi_freq_ldpy", reason="make bench has it")
    assert {finding.met for finding in oue._law({peer: getattr(oue, peer)()}, 50)} == {True}


def test_the_recorded_draws_are_those_of_the_run():
    calls = []
    stream = loops.drifting(1000, 30, 8)
    with loops.recorded(calls):
        first = loops.simulate(stream, "mtsp_population", epsilon=1.0, window=5)
    assert first.versions.tobytes() == (
        loops.simulate(stream, "mtsp_population", epsilon=1.0, window=5).versions.tobytes()
    )
    drawn = loops.variates(calls)
    assert drawn["binomial"] > 0
    # of 8 cells: counts of an arc, then of all but one of its three groups; absent users stand beside them
    arcs = drawn["hypergeometric"]
    assert drawn["multivariate_hypergeometric"] >= arcs * 8
    loops.replay(calls)


def test_slopes_and_goals():
    assert slope([1, 10, 100], [3.0, 300.0, 30_000.0]) == pytest.approx(2.0)
    assert Finding("", "", 1.0, "").met is None
    assert Finding("", "", 1.0, "", 1.0).met
    assert not Finding("", "", 1.1, "", 1.0).met
    assert Finding("", "", 1.1, "", 1.0, at_least=True).met


def test_repeats_take_turns():
    order = []
    in_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b", "a", "b"]


def test_a_command_is_watched_or_its_failure_told():
    code = "import subprocess, sys; x = bytearray(60_000_000); subprocess.run([sys.executable, '-c', '%s'])"
    seen = watched(python("-c", code % "y = bytearray(120_000_000); import time; time.sleep(0.5)"))
    assert 60 < seen.own_peak < 120 < seen.others_peak
    with pytest.raises(RuntimeError, match="oh dear"):
        watched(python("-c", "raise SystemExit('oh dear')"))
