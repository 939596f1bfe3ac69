"""Numbers of callers: those of numpy are taken everywhere, and what is none is refused in one line."""

import json

import numpy as np
import pytest

from mtsp_ldp import Stream, simulate
from mtsp_ldp.privacy.oracle import GRR, OUE
from mtsp_ldp.protocol.client import Client
from mtsp_ldp.streams.facts import StreamError

STREAM = Stream.from_counts(np.full((12, 3), 40))
PANEL = ([0, 0, 1], [0, 1, 0], [0, 1, 2])


def run(**terms):
    return simulate(STREAM, **{"mechanism": "lpu", "epsilon": 1.0, "window": 4, **terms})


@pytest.mark.parametrize(
    "terms",
    [
        {"window": np.int64(4)},
        {"window": np.uint8(4), "epsilon": np.float32(1.0)},
        {"epsilon": np.int32(1), "seed": np.int64(0), "repetition": np.int16(0), "replicate": np.int8(1)},
        {"epsilon": 1},
    ],
)
def test_numbers_of_numpy_are_numbers(terms):
    assert run(**terms).versions.tobytes() == run().versions.tobytes()
    option = {"mechanism": "lpa", "minimum_share": np.float32(0.25)}
    assert run(**option, **terms).versions.tobytes() == run(**option).versions.tobytes()


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"seed": -1}, "seed=-1: must be an integer, at least 0"),
        ({"seed": 1.5}, r"seed=1\.5: must be an integer"),
        ({"seed": "x"}, "seed='x': must be an integer"),
        ({"seed": None}, "seed=None: must be an integer"),
        ({"seed": {1}}, r"seed=\{1\}: must be an integer"),
        ({"seed": True}, "seed=True: must be an integer"),
        ({"repetition": -1}, "repetition=-1: must be an integer, at least 0"),
        ({"repetition": 0.5}, r"repetition=0\.5: must be an integer"),
        ({"replicate": 0}, "replicate=0: must be an integer, at least 1"),
        ({"replicate": True}, "replicate=True: must be an integer"),
        ({"epsilon": True}, "epsilon=True: must be a number"),
        ({"epsilon": None}, "epsilon=None: must be a number"),
        ({"epsilon": "1"}, "epsilon='1': must be a number"),
        ({"epsilon": float("nan")}, "epsilon=nan: must be"),
        ({"epsilon": 1e-320}, r"epsilon=1e-320: must be at least 1e-09"),
        ({"window": 2.5}, r"window=2\.5: must be"),
        ({"window": True}, "window=True: must be an integer"),
        ({"window": np.bool_(True)}, "window=True: must be an integer"),
        ({"window": 13}, r"window=13: must be in 1\.\.12"),
        ({"mechanism": {1}}, r"mechanism=\{1\}: must be the name"),
        ({"mechanism": ["lpu"]}, r"mechanism=\['lpu'\]: must be the name"),
        ({"mechanism": 5}, "mechanism=5: must be the name"),
    ],
)
def test_terms_that_are_none_are_refused(terms, message):
    with pytest.raises(ValueError, match=message) as told:
        run(**terms)
    assert "\n" not in str(told.value)


MASKED = np.ma.masked_array([0, 0, 1], mask=[False, True, False])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stream.from_panel(*PANEL, 3, length=2.5), r"length=2\.5: must be an integer"),
        (lambda: Stream.from_panel(*PANEL, 3, length=0), "length=0: must be an integer, at least 1"),
        (lambda: Stream.from_panel(*PANEL, 3, length=True), "length=True: must be an integer"),
        (lambda: Stream.from_panel(*PANEL, 3.0), r"d=3\.0: must be an integer"),
        (lambda: Stream.from_panel(*PANEL, 0), "d=0: must be an integer, at least 1"),
        (lambda: Stream.from_panel(*PANEL, 3, users=2.5), r"users=2\.5: must be an integer"),
        (lambda: Stream.from_panel(MASKED, *PANEL[1:], 3), "column t: must have no masked entries"),
        (lambda: Stream.from_panel([0.5, 1, 2], *PANEL[1:], 3), "column 't': must be integers, not float64"),
        (lambda: Stream.from_panel([True, False, True], *PANEL[1:], 3), "must be integers, not bool"),
        (
            lambda: Stream.from_panel([1_700_000_000] * 3, [0, 1, 2], [0, 1, 2], 3),
            r"T = 1,700,000,001 and d = 3 are too many: t must be numbers of timestamps 0, 1, …, no times",
        ),
        (lambda: Stream.from_panel(*PANEL, 3, length=10**12), "are too many"),
        (lambda: Stream.from_counts([[3]], 10.5), r"population=10\.5: must be an integer"),
        (lambda: Stream.from_counts([[3]], float("nan")), "population=nan: must be an integer"),
        (lambda: Stream.from_counts([[3]], True), "population=True: must be an integer"),
        (lambda: Stream.from_counts(np.ma.masked_array([[3, 4]], [[0, 1]])), "must have no masked entries"),
        (lambda: Stream.from_counts([[True]]), r"counts: must be a table \(T, d\)"),
        (lambda: Stream.from_counts([["3"]]), r"counts: must be a table \(T, d\)"),
        (lambda: Stream.from_counts([[None]]), r"counts: must be a table \(T, d\)"),
        (lambda: Stream.from_counts([[0.5]]), r"counts: must be a table \(T, d\)"),
    ],
)
def test_streams_of_what_are_no_numbers_are_refused(make, message):
    with pytest.raises(StreamError, match=message) as told:
        make()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda release: release.range(0.5, 1, 3), "lo: must be integers, not float64"),
        (lambda release: release.range(0, 1.0, 3), "hi: must be integers, not float64"),
        (lambda release: release.range(0, 1, 3.5), r"t=3\.5: must be an integer"),
        (lambda release: release.range(0, 1, 3, 1.5), r"delta=1\.5: must be an integer"),
        (lambda release: release.range(0, 1, 3, True), "delta=True: must be an integer"),
        (lambda release: release.count(1.5, 3), "lo: must be integers"),
        (lambda release: release.event(1, 3.0, 1, 5), r"t=3\.0: must be an integer"),
        (lambda release: release.range_counts([True], [True]), "lo: must be integers, not bool"),
        (lambda release: release.range_counts(MASKED, [2]), "lo: must have no masked entries"),
        (lambda release: release.range(0, 1, -1), r"t=-1: must be in 0\.\.11"),
    ],
)
def test_questions_of_what_are_no_numbers_are_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(run())
    assert run().range(np.int64(0), np.int8(1), np.int32(3), np.uint8(2)) == run().range(0, 1, 3, 2)


@pytest.mark.parametrize("oracle", [OUE(1.0), GRR(1.0, 3)])
@pytest.mark.parametrize("cells", [[0.5], [True], np.ma.masked_array([0, 1], [False, True]), ["0"], [3]])
def test_reports_of_what_is_no_cell_are_refused(oracle, cells):
    with pytest.raises(ValueError, match="cells: must "):
        oracle.perturb(cells, 3, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ((0.5, 3, 1.0, 5), r"reporter=0\.5: must be an integer"),
        ((-1, 3, 1.0, 5), "reporter=-1: must be an integer, at least 0"),
        ((0, 3.5, 1.0, 5), r"cells=3\.5: must be an integer"),
        ((0, True, 1.0, 5), "cells=True: must be an integer"),
        ((0, 3, True, 5), "epsilon=True: must be a finite number above 0"),
        ((0, 3, "1", 5), "epsilon='1': must be a finite number above 0"),
        ((0, 3, 1.0, 2.5), r"window=2\.5: must be an integer"),
    ],
)
def test_clients_of_what_are_no_numbers_are_refused(terms, message):
    with pytest.raises(ValueError, match=message):
        Client(*terms)


def test_a_client_takes_integers_only():
    client = Client(0, np.int64(3), np.float32(1.0), np.int64(5))
    client.turn(np.int64(1), np.uint8(2))
    for t, cell, message in (
        (1.5, 1, "t=1.5"),
        (2, 1.5, "cell=1.5"),
        (2, True, "cell=True"),
        (2, 3, "cell=3"),
    ):
        with pytest.raises(ValueError, match=message):
            client.turn(t, cell)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"users": 2}, "users=2: must be at least 3, as here.parquet has"),
        ({"users": 2.5}, r"users=2\.5: must be an integer, at least 1"),
        ({"T": 10**12}, "T=1000000000000: must be at most"),
        ({"d": 10**7}, r"d=10000000: must be an integer in 1\.\.65536"),
        ({"T": True}, "T=True: must be an integer"),
        ({"replicate": -4}, "replicate=-4: must be an integer, at least 1"),
        ({"hold": 0}, "hold=0: must be an integer, at least 1"),
        ({"slot_minutes": "60"}, "slot_minutes='60': must be an integer"),
        ({"active": [3, 3]}, r"active\[1\]=3: must be 2, as here.parquet has; prepare it again"),
        ({"active": [3]}, "active: must be a list of n_t, one a timestamp"),
        ({"active": 5}, "active: must be a list of n_t"),
        ({"sha256": "0" * 64}, "must be the file whose sha256 here.json holds"),
    ],
)
@pytest.mark.parametrize("kind", ["panel", "exchangeable"])
def test_facts_that_contradict_the_stream_are_refused(tmp_path, change, message, kind):
    if kind == "panel":
        stream = Stream.from_panel([0, 0, 0, 1, 1], [0, 1, 2, 0, 2], [0, 1, 1, 0, 0], 2)
    else:
        stream = Stream.from_counts([[1, 2], [2, 0]])
        message = message.replace("users=2: must be at least 3, as here.parquet has", "population=2: must be")
    stream.write(tmp_path / "here.parquet")
    facts = json.loads((tmp_path / "here.json").read_text())
    (tmp_path / "here.json").write_text(json.dumps(facts | change))
    with pytest.raises(StreamError, match=message) as told:
        Stream.read(tmp_path / "here.parquet")
    assert "\n" not in str(told.value)


def test_facts_are_facts_by_name(tmp_path):
    STREAM.write(tmp_path / "here.parquet")
    (tmp_path / "here.json").write_text("[1, 2]")
    with pytest.raises(StreamError, match=r"here\.json: must be the facts of a stream by name, no list"):
        Stream.read(tmp_path / "here.parquet")
