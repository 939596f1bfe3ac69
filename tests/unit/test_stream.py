import json

import numpy as np
import polars as pl
import pytest

from mtsp_ldp import Stream, simulate
from mtsp_ldp.streams import rows
from mtsp_ldp.streams.facts import StreamFacts
from mtsp_ldp.streams.stream import StreamError


@pytest.fixture
def path(tmp_path):
    stream = Stream.from_panel([0, 0, 1], [5, 3, 3], [1, 0, 2], 3, facts=StreamFacts(dataset="made"))
    stream.write(tmp_path / "made.parquet")
    return tmp_path / "made.parquet"


def test_reads_what_it_wrote(path):
    stream = Stream.read(path)
    assert stream.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert (stream.users, stream.length, stream.d, stream.key) == (2, 2, 3, "made")
    users, cells = stream.at(0)
    assert (users.tolist(), cells.tolist()) == ([0, 1], [0, 1])


def test_the_order_of_rows_does_not_matter(path, tmp_path):
    again = Stream.from_panel([1, 0, 0], [3, 5, 3], [2, 1, 0], 3, facts=StreamFacts(dataset="made"))
    again.write(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()


def test_an_exchangeable_stream_round_trips(tmp_path):
    stream = Stream.from_counts([[3, 0], [0, 0], [1, 1]], 7)
    stream.write(tmp_path / "e.parquet")
    again = Stream.read(tmp_path / "e.parquet")
    assert not again.is_panel
    assert again.users == 7
    assert np.array_equal(again.counts, stream.counts)
    assert np.isnan(again.frequencies[1]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: pl.concat([f, f[1:2]]), r"row 3: user 1 at t=0: must be there once"),
        (lambda f: f.with_columns(cell=pl.lit(3, pl.UInt16)), r"row 0: cell=3: must be in 0\.\.2"),
        (lambda f: f.with_columns(t=pl.col("t") + 2), r"row 0: t=2: must be in 0\.\.1"),
        (lambda f: f.drop("cell"), "column 'cell' is missing"),
        (lambda f: f.with_columns(user=pl.lit("x")), "column 'user'"),
        (lambda f: f.with_columns(user=pl.lit(None, pl.UInt32)), "column 'user'"),
    ],
)
def test_refuses_a_bad_file_with_file_and_row(path, change, message):
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(StreamError, match=message) as refused:
        Stream.read(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_refuses_a_truncated_file(path):
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StreamError, match="not a whole parquet"):
        Stream.read(path)


def test_refuses_missing_or_broken_facts(path, tmp_path):
    facts = path.with_suffix(".json")
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "T": 0}))
    with pytest.raises(StreamError, match="T=0"):
        Stream.read(path)
    facts.write_text("{")
    with pytest.raises(StreamError, match="not a whole json"):
        Stream.read(path)
    facts.unlink()
    with pytest.raises(StreamError, match="no such file"):
        Stream.read(path)


@pytest.mark.parametrize("counts", [[[-1]], [], [[]], [1, 2]])
def test_refuses_counts_that_are_no_table(counts):
    with pytest.raises(StreamError):
        Stream.from_counts(counts)


def test_refuses_a_population_below_the_active():
    with pytest.raises(StreamError, match="population=2"):
        Stream.from_counts([[3]], 2)


@pytest.fixture
def wide(tmp_path):
    """A panel with timestamps that are empty, and one at which all are active."""
    rng = np.random.default_rng(4)
    there = rng.random((40, 30)) < 0.4
    there[[0, 7, 39]], there[11] = False, True
    t, user = np.nonzero(there)
    stream = Stream.from_panel(t, user, rng.integers(0, 5, t.size), 5, length=40, users=30)
    stream.write(tmp_path / "wide.parquet")
    return stream


@pytest.mark.parametrize("block", [1, 7, 64, 10_000])
def test_rows_that_stay_in_their_file_are_the_same(wide, tmp_path, monkeypatch, block):
    monkeypatch.setattr(rows, "BLOCK", block)
    monkeypatch.setattr(rows, "HELD", block)
    filed = Stream.read(tmp_path / "wide.parquet")
    assert np.array_equal(filed.counts, wide.counts)
    for t in [*range(40), 20, 3, 39, 0]:
        for ours, theirs in zip(filed.at(t), wide.at(t), strict=True):
            assert ours.tolist() == theirs.tolist()
    filed.write(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "wide.parquet").read_bytes()


def test_only_a_block_of_a_file_is_held(wide, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "HELD", 64)
    filed, most = Stream.read(tmp_path / "wide.parquet"), 0
    for t in range(40):
        filed.at(t)
        most = max(most, filed._rows._users.size)
    assert most <= 64 + 30
    one = simulate(filed, "lpa", epsilon=1.0, window=5)
    other = simulate(wide, "lpa", epsilon=1.0, window=5)
    assert one.versions.tobytes() == other.versions.tobytes()


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_an_error_names_the_row_of_the_file_whatever_the_block(wide, tmp_path, monkeypatch, block):
    monkeypatch.setattr(rows, "BLOCK", block)
    path = tmp_path / "wide.parquet"
    frame, row = pl.read_parquet(path), 100
    wrong = pl.when(pl.int_range(pl.len()) == row)
    frame.with_columns(cell=wrong.then(5).otherwise("cell")).write_parquet(path)
    with pytest.raises(StreamError, match=rf"row {row}: cell=5: must be in 0\.\.4"):
        Stream.read(path)
    pl.concat([frame, frame[row : row + 1]]).write_parquet(path)
    with pytest.raises(StreamError, match=rf"row {frame.height}: user \d+ at t=\d+: must be there once"):
        Stream.read(path)
    facts = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(facts | {"sha256": ""}))  # as others write it
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(path)
    assert np.array_equal(Stream.read(path).counts, wide.counts)
    frame.with_columns(user=pl.col("user") * 3).write_parquet(path)
    assert Stream.read(path).at(11)[0].tolist() == list(range(30))


def test_sorted_compact_arrays_are_kept_uncopied():
    t, user = np.divmod(np.arange(600), 60)
    columns = (t.astype(np.int32), user.astype(np.uint32), (user % 7).astype(np.uint16))
    stream = Stream.from_panel(*columns, 7)
    for found, given in zip(stream.at(3), columns[1:], strict=True):
        assert np.shares_memory(found, given)


def test_refuses_columns_that_do_not_fit():
    with pytest.raises(StreamError, match="one length"):
        Stream.from_panel([0, 0], [1], [0, 0], 2)
    with pytest.raises(StreamError, match="'user'"):
        Stream.from_panel([0], [1.0], [0], 2)
    with pytest.raises(StreamError, match="d=70000"):
        Stream.from_panel([0], [1], [0], 70_000)
    with pytest.raises(StreamError, match="no rows"):
        Stream.from_panel(np.empty(0, int), np.empty(0, int), np.empty(0, int), 2)
