"""Tables of counts: what is read, and one line for whatever is none."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiments.config import load_dataset

TABLE = np.array([[5, 0, 2], [4, 1, 3], [7, 0, 0]])
ROWS = "5,0,2\n4,1,3\n7,0,0\n"


def prepared(folder, text=None, table=None, **keys):
    if text is not None:
        (folder / "mine.csv").write_text(text)
    if table is not None:
        np.savez(folder / "mine.npz", **table)
    made = configured({"name": "mine", "title": "Mine", "format": "counts", **keys})
    made.fetch(folder, Permission())
    return made.prepare(folder)


@pytest.mark.parametrize(
    ("text", "keys", "names"),
    [
        (ROWS, {}, "012"),
        ("a,b,c\n" + ROWS, {}, "abc"),
        (ROWS.replace(",", ";").replace("5", " 5 ").replace("2", "2.0"), {"separator": ";"}, "012"),
    ],
)
def test_a_csv_is_read_with_a_header_and_without(tmp_path, text, keys, names):
    stream = prepared(tmp_path, text, **keys)
    assert (stream.counts == TABLE).all()
    assert [cell.name for cell in stream.facts.cells] == list(names)
    assert not stream.is_panel
    assert (stream.users, stream.facts.rows) == (8, 3)


def test_an_npz_is_read_and_facts_are_those_of_the_config(tmp_path):
    keys = {"users": 20, "slot_minutes": 60, "replicate": 2}
    stream = prepared(tmp_path, table={"counts": TABLE.astype(np.uint16)}, **keys)
    assert (stream.counts == TABLE).all()
    assert (stream.users, stream.period, stream.replicate) == (20, 24, 2)
    stream.write(tmp_path / "mine.parquet")
    assert (type(stream).read(tmp_path / "mine.parquet").counts == TABLE).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5,0,2\n4,-1,3\n", ["row 2", "column '1'", "'-1'", "integer in 0"]),
        ("5,0,2\n4,1.5,3\n", ["row 2", "column '1'", "'1.5'", "integer in 0"]),
        ("a,b,c\n5,0,2\n4,,3\n", ["row 3", "column 'b'", "nothing", "integer in 0"]),
        ("a,b,c\n5,0,2\n4,x,3\n", ["row 3", "column 'b'", "'x'"]),
        ("5,0,2\n4,inf,3\n", ["row 2", "'inf'"]),
        ("5,0,2\n4,9007199254740993,3\n", ["row 2", "'9007199254740993'", "2^53"]),
        ("0," * 65536 + "1\n", ["65,537 columns", "at most 65,536 cells"]),
        ("5,0,2\n4,1e300,3\n", ["row 2", "'1e300'"]),
        ("5,0,2\n4,1,3,9\n", ["rows are of one length"]),
        ("5,0,2\n4,1\n", ["row 2", "column '2'", "nothing"]),
        ("5,x,2\n4,1,3\n", ["row 1", "column '1'", "'x'"]),
        ("a,b,a\n5,0,2\n4,1,3\n", ["row 1", "each once"]),
        ("5,0,2\n", ["1 rows", "at least 2 timestamps"]),
        ("a,b\n", ["0 rows", "at least 2 timestamps"]),
        ("", ["must be a csv"]),
    ],
)
def test_what_is_no_count_is_told_in_one_line(tmp_path, text, words):
    with pytest.raises(ValueError, match=r"mine\.csv") as told:
        prepared(tmp_path, text)
    message = str(told.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"numbers": TABLE}, ["numbers", "'counts'"]),
        ({"counts": TABLE[0]}, ["(3,)", "numbers (T, d)"]),
        ({"counts": TABLE.astype(str)}, ["<U21", "numbers (T, d)"]),
        ({"counts": TABLE - 1}, ["row 0", "-1", "integer in 0"]),
        ({"counts": np.zeros((2, 65537), dtype=np.int8)}, ["65,537 columns", "at most 65,536 cells"]),
        ({"counts": TABLE + 0.5}, ["row 0", "5.5", "integer in 0"]),
    ],
)
def test_what_is_no_table_is_told_in_one_line(tmp_path, table, words):
    with pytest.raises(ValueError, match=r"mine\.npz") as told:
        prepared(tmp_path, table=table)
    assert "\n" not in str(told.value)
    for word in words:
        assert word in str(told.value)


def test_one_file_is_one_stream(tmp_path):
    with pytest.raises(
        ValueError, match=r"must hold one csv or npz of counts; there are: mine\.csv, mine\.npz"
    ):
        prepared(tmp_path, ROWS, table={"counts": TABLE})


def test_too_few_users_and_bad_keys_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"mine\.csv: population=3: must be at least the largest n_t, 8"):
        prepared(tmp_path, ROWS, users=3)
    with pytest.raises(ValueError, match="separator=',,': must be one character"):
        prepared(tmp_path, ROWS, separator=",,")


@pytest.mark.parametrize("make", [bz2.compress, gzip.compress, lzma.compress, "zip"])
def test_a_compressed_table_is_read(tmp_path, make):
    suffix = {bz2.compress: "bz2", gzip.compress: "gz", lzma.compress: "xz"}.get(make, "zip")
    path = tmp_path / f"mine.csv.{suffix}"
    if make == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sub/mine.csv", ROWS)
    else:
        path.write_bytes(make(ROWS.encode()))
    assert (prepared(tmp_path).counts == TABLE).all()


def test_an_absurd_size_in_a_header_is_told_in_one_line(tmp_path):
    content = io.BytesIO()
    np.lib.format.write_array_header_2_0(
        content, {"descr": "<i8", "fortran_order": False, "shape": (1 << 40, 1 << 10)}
    )
    with zipfile.ZipFile(tmp_path / "mine.npz", "w") as archive:
        archive.writestr("counts.npy", content.getvalue())
    with pytest.raises(ValueError, match=r"mine\.npz: must be an npz with an array 'counts'") as told:
        prepared(tmp_path)
    assert "\n" not in str(told.value)


def test_a_broken_npz_is_told_in_one_line(tmp_path):
    whole, lone = io.BytesIO(), io.BytesIO()
    np.savez_compressed(whole, counts=np.arange(10000).reshape(100, 100))
    np.save(lone, TABLE)
    spoiled = bytearray(whole.getvalue())
    spoiled[200:260] = bytes(60)
    for content in (b"PK\x03\x04 nothing", lone.getvalue(), bytes(spoiled), b""):
        (tmp_path / "broken.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"broken\.npz: must be an npz with an array 'counts'") as told:
            prepared(tmp_path)
        assert "\n" not in str(told.value)


def test_a_first_row_of_numbers_in_order_is_asked_about(tmp_path):
    text = "0,1,2\n" + ROWS
    with pytest.raises(ValueError, match=r"mine\.csv: row 1: 0, 1, …: names or counts\? header"):
        prepared(tmp_path, text)
    named, counted = (prepared(tmp_path, text, header=header) for header in (True, False))
    assert (named.counts == TABLE).all()
    assert [cell.name for cell in named.facts.cells] == ["0", "1", "2"]
    assert (counted.counts == [[0, 1, 2], *TABLE]).all()


def test_blank_lines_at_the_end_are_no_timestamps(tmp_path):
    assert (prepared(tmp_path, ROWS + "\n\n").counts == TABLE).all()
    with pytest.raises(ValueError, match="row 2, column '0': nothing"):
        prepared(tmp_path, "5,0,2\n,,\n4,1,3\n")


def test_the_counts_of_t_drive_are_asked_for_by_name(tmp_path):
    with pytest.raises(ValueError, match="tdrive_counts"):
        load_dataset("tdrive_counts").require(tmp_path / "nothing", Permission())
