"""Every line of a text is a row, well or badly formed."""

import io

import polars as pl
import pytest

from mtsp_ldp.datasets.ingest import blocks as module
from mtsp_ldp.datasets.ingest.delimited import delimited


def read(text, columns=("a", "b"), quote=None, separator=","):
    frames = list(delimited(io.BytesIO(text), columns, name="x.csv", quote=quote, separator=separator))
    return pl.concat(frames).rows()


@pytest.mark.parametrize("quote", [None, '"'])
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
        (b"1,2\n3,4", [("1", "2"), ("3", "4")]),
        (b"1\n3,4\n", [("1", None), ("3", "4")]),
        (b"1,2\n\n3,4\n", [("1", "2"), (None, None), ("3", "4")]),
        (b",2\n", [(None, "2")]),
        # a line with too many fields says nothing, be it the first
        (b"1,2,3,4\n5,6\n", [(None, None), ("5", "6")]),
        (b"5,6\n1,2,3\n", [("5", "6"), (None, None)]),
        # these end no line
        ("1\u2028,2\n3,4\n".encode(), [("1\u2028", "2"), ("3", "4")]),
        (b"1\x00,2\n", [("1\x00", "2")]),
        (b"\xff1,2\n", [("\ufffd1", "2")]),
    ],
)
def test_every_line_is_a_row(text, rows, quote):
    assert read(text, quote=quote) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b'"1,1",2\n3,4\n', [("1,1", "2"), ("3", "4")]),
        (b'"",2\n3,4\n', [(None, "2"), ("3", "4")]),
        (b'1,2\n"3,4\n5,6\n', [("1", "2"), ("3,4", None), ("5", "6")]),
        # two stray quotes are a field of two lines to others: here they cost a line each
        (b'1,2\n"3,4\n5,6\n7",8\n', [("1", "2"), ("3,4", None), ("5", "6"), ('7"', "8")]),
        (b'"",2\n"3,4\n', [(None, "2"), ("3,4", None)]),
    ],
)
def test_a_stray_quote_costs_its_own_line(text, rows):
    assert read(text, quote='"') == rows


def test_without_a_quote_character_quotes_are_ordinary():
    assert read(b'"1\t2\n3\t4\n', separator="\t") == [('"1', "2"), ("3", "4")]


def test_batches_cut_no_line(monkeypatch):
    text = b"".join(b"%d,%d\n" % (number, number * number) for number in range(500))
    for size in (1, 7, 100):
        monkeypatch.setattr(module, "BATCH", size)
        assert read(text) == [(str(number), str(number * number)) for number in range(500)]


def test_a_header_names_the_columns():
    assert read("\ufeffb,a\n1,2\n".encode(), columns=None) == [("1", "2")]
    with pytest.raises(ValueError, match=r"x\.csv: column 'c' is missing; there are 'b', 'a'"):
        list(delimited(io.BytesIO(b"b,a\n1,2\n"), None, name="x.csv", wanted=["c"]))
    with pytest.raises(ValueError, match=r"x\.csv: column 'a' is there twice; there are 'a', 'b', 'a'"):
        list(delimited(io.BytesIO(b"a,b,a\n1,2,3\n"), None, name="x.csv", wanted=["a"]))
    # what nobody asks for may be called anything
    (frame,) = delimited(io.BytesIO(b"note,a,note\n1,2,3\n"), None, name="x.csv", wanted=["a"])
    assert frame.to_dict(as_series=False) == {"a": ["2"]}
    with pytest.raises(ValueError, match=r"x\.csv: its first line holds NUL bytes"):
        list(delimited(io.BytesIO("a,b\n1,2\n".encode("utf-16")), None, name="x.csv", wanted=["a"]))
    with pytest.raises(ValueError, match=r"x\.csv: (its first line is no header|column)"):
        list(delimited(io.BytesIO(b"a,b\r1,2\r"), None, name="x.csv", wanted=["c"]))


@pytest.mark.parametrize("size", [1, 3, 5, 9, 1 << 20])
def test_a_field_may_span_lines(monkeypatch, size):
    monkeypatch.setattr(module, "BATCH", size)
    text = b'1,"x\nzz\ny",3\n4,5,6\n"7,8,9\n1,"x\r\ny",3\n4,"5",6\n'
    frames = delimited(io.BytesIO(text), ["a", "b", "c"], name="x.csv", quote='"', spanning=True)
    assert [row for frame in frames for row in frame.rows()] == [
        ("1", "x\nzz\ny", "3"),
        ("4", "5", "6"),
        ("7,8,9", None, None),  # a stray quote: its line with others has too many fields, or too few
        ("1", "x\r\ny", "3"),
        ("4", "5", "6"),
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # each line alone looks like a row, and only the quotes tell
        (b'1,"see\n2,below"\n3,4\n', [("1", "see\n2,below"), ("3", "4")]),
        # inches, and stray quotes before a text: one line each
        (b'1,5" pipe\n2,x\n3,6" pipe\n', [("1", '5" pipe'), ("2", "x"), ("3", '6" pipe')]),
        (b'1,"a\n2,x\n3,"b\n', [("1", "a"), ("2", "x"), ("3", "b")]),
        (b'1,"a\n2,x\n', [("1", "a"), ("2", "x")]),
    ],
)
def test_lines_are_one_row_only_by_the_letter(text, rows):
    frames = delimited(io.BytesIO(text), ["a", "b"], name="x.csv", quote='"', spanning=True)
    assert pl.concat(frames).rows() == rows


def test_without_a_header_columns_are_numbers():
    text = b'1,"x\ny",3\n4,5,6\n'
    frames = delimited(io.BytesIO(text), [], name="x.csv", wanted=["3", "1"], quote='"', spanning=True)
    assert pl.concat(frames).rows() == [("3", "1"), ("6", "4")]
    with pytest.raises(ValueError, match="column '4' is missing; there are '1', '2', '3'"):
        list(delimited(io.BytesIO(text), [], name="x.csv", wanted=["4"], quote='"', spanning=True))


def test_bytes_of_another_encoding_are_told_where_they_matter():
    for encoding in ("latin-1", "utf-16"):
        text = "who,at\nMüller,1\n".encode(encoding)
        frames = delimited(io.BytesIO(text), None, name="x.csv", wanted=["who"], encoding=encoding)
        assert pl.concat(frames).rows() == [("Müller",)]
    text = "who,at\nMüller,1\n".encode("latin-1")
    with pytest.raises(ValueError, match=r"x\.csv: column 'who': 'M\ufffdller': must be UTF-8, or encoding"):
        list(delimited(io.BytesIO(text), None, name="x.csv", wanted=["who"]))
    assert pl.concat(delimited(io.BytesIO(text), None, name="x.csv", wanted=["at"])).rows() == [("1",)]
    with pytest.raises(ValueError, match=r"x\.csv: must be text in ascii"):
        list(delimited(io.BytesIO(text), None, name="x.csv", wanted=["who"], encoding="ascii"))


def test_a_header_may_have_other_names():
    text = b"uid,at\n7,1\n"
    frames = delimited(io.BytesIO(text), None, name="x.csv", wanted=["user"], aliases={"uid": "user"})
    assert pl.concat(frames).rows() == [("7",)]
