import json

import numpy as np
import polars as pl
import pytest

from mtsp_ldp import Stream
from mtsp_ldp.stream import StreamError


@pytest.fixture
def path(tmp_path):
    stream = Stream.from_panel([0, 0, 1], [5, 3, 3], [1, 0, 2], 3, facts={"dataset": "made"})
    stream.write(tmp_path / "made.parquet")
    return tmp_path / "made.parquet"


def test_reads_what_it_wrote(path):
    stream = Stream.read(path)
    assert stream.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert (stream.users, stream.length, stream.d, stream.key) == (2, 2, 3, "made")
    users, cells = stream.at(0)
    assert (users.tolist(), cells.tolist()) == ([0, 1], [0, 1])


def test_the_order_of_rows_does_not_matter(path, tmp_path):
    again = Stream.from_panel([1, 0, 0], [3, 5, 3], [2, 1, 0], 3, facts={"dataset": "made"})
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
        (lambda f: pl.concat([f, f[1:2]]), r"row 3: user 1 at t=0 again"),
        (lambda f: f.with_columns(cell=pl.lit(3, pl.UInt16)), r"row 0: cell=3, and 0\.\.2"),
        (lambda f: f.with_columns(t=pl.col("t") + 2), r"row 0: t=2, and 0\.\.1"),
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
