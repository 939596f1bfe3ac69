"""Tables of a user's own, as people have them: each record is where it belongs, or refused in one line."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import polars as pl
import pytest

from mtsp_ldp import Stream
from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.ingest.positions import extend
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.streams.doubts import doubts
from mtsp_ldp.streams.facts import StreamFacts

NAMED = {"user": "u", "time": "t", "cell": "c"}
PLACED = {"user": "u", "time": "t", "x": "x", "y": "y"}


def prepared(folder, raw_files, **keys):
    """Prepare a data set of these files; bytes, text or a table each."""
    for name, content in raw_files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pl.DataFrame):
            content.write_parquet(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    given = {"columns": NAMED if "cells" in keys or "cells_file" in keys else PLACED, **keys}
    if given["columns"] == PLACED:
        given = {"box": [0, 0, 2, 2], "grid": 2, **given}
    return configured({"name": "mine", "title": "Mine", "format": "custom", **given}).prepare(folder)


def refused(message, folder, raw_files, **keys):
    with pytest.raises(ValueError, match=message) as told:
        prepared(folder, raw_files, **keys)
    assert "\n" not in str(told.value)


HERE = "u,t,c\na,2024-05-01T10:00:00Z,7\n"


@pytest.mark.parametrize("cells", [["7", "8"], [7, 8]])
def test_cells_are_texts_or_plain_integers(tmp_path, cells):
    assert prepared(tmp_path, {"a.csv": HERE}, cells=cells).counts.tolist() == [[1, 0]]


@pytest.mark.parametrize("cells", [[7.5], [True], [None], "7", {"7": 1}])
def test_cells_of_another_type_are_refused(tmp_path, cells):
    refused(
        r"cells.*: must be (text; a name that looks like a number needs quotes|a list)",
        tmp_path,
        {},
        cells=cells,
    )


def test_as_many_cells_as_can_be_numbered(tmp_path):
    cells = [str(number) for number in range(65536)]
    assert prepared(tmp_path, {"a.csv": HERE}, cells=cells).d == 65536
    refused("cells.*at most 65,536 entries, not 65,537", tmp_path, {"a.csv": HERE}, cells=[*cells, "x"])


@pytest.mark.parametrize(
    ("text", "form", "origin"),
    [
        ("2024-05-01T10:00:00Z", "%Y-%m-%dT%H:%M:%SZ", "2024-05-01 06:00:00"),
        ("2024-05-01 10:00 UTC", "%Y-%m-%d %H:%M UTC", "2024-05-01 06:00:00"),
        ("2024-05-01 10:00 GMT", "%Y-%m-%d %H:%M GMT", "2024-05-01 06:00:00"),
        ("Wed May 01 10:00:00 +0000 2024", "%a %b %d %H:%M:%S +0000 %Y", "2024-05-01 06:00:00"),
        ("2024-05-01 10:00 -05:30", "%Y-%m-%d %H:%M -05:30", "2024-05-01 11:00:00"),
        ("2024-05-01 10:00 UTC+01:00", "%Y-%m-%d %H:%M UTC+01:00", "2024-05-01 05:00:00"),
        ("2024-05-01 10:00 (UTC)", "%Y-%m-%d %H:%M (UTC)", "2024-05-01 06:00:00"),
        ("2024-05-01 10:00+01", "%Y-%m-%d %H:%M+01", "2024-05-01 05:00:00"),
        ("2024-05-01 10:00 UTC+1", "%Y-%m-%d %H:%M UTC+1", "2024-05-01 05:00:00"),
        ("2024-05-01T10:00:00.000Z", "%Y-%m-%dT%H:%M:%S.000Z", "2024-05-01 06:00:00"),
        ("2024-05-01 10:00:00.000-0530", "%Y-%m-%d %H:%M:%S.000-0530", "2024-05-01 11:00:00"),
        ("2024-05-01 10:00", "%Y-%m-%d %H:%M", "2024-05-01 10:00:00"),
        ("2024-05-01 10:00:00 UTC", "iso", "2024-05-01 06:00:00"),
        ("2024-05-01 10:42", "iso", "2024-05-01 10:00:00"),
    ],
)
def test_an_offset_in_the_form_is_meant(tmp_path, text, form, origin):
    files = {"a.csv": f"u,t,c\na,{text},7\n"}
    stream = prepared(tmp_path, files, cells=["7"], time_format=form, time_zone="America/New_York")
    assert stream.facts.origin == origin


@pytest.mark.parametrize("zone", ["%Z", "EST", "(CEST)", "z", "Zulu", "CET", "+99:00"])
def test_names_of_zones_are_refused(tmp_path, zone):
    form = f"%Y-%m-%d %H:%M {zone}"
    refused("must have %z, or an offset that is written out", tmp_path, {}, cells=["7"], time_format=form)


def test_an_offset_that_no_clock_has_is_unreadable(tmp_path):
    files = {"a.csv": "u,t,c\na,2024-05-01T10:00+25:00,7\nb,2024-05-01T10:00+14:00,7\n"}
    assert prepared(tmp_path, files, cells=["7"]).facts.rows_by_reason == {"kept": 1, "unparsable": 1}


def test_days_may_have_another_zone_than_times(tmp_path):
    files = {"a.csv": "u,t,c\na,2024-05-01T23:30:00,7\nb,2024-05-02T01:00:00,7\n"}
    days = {"cells": ["7"], "slot_minutes": 1440}
    assert prepared(tmp_path, files, **days).length == 2
    stream = prepared(tmp_path, files, **days, day_zone="Europe/Berlin")
    assert (stream.length, stream.facts.origin) == (1, "2024-05-02 00:00:00")


@pytest.mark.parametrize(
    "zone", ["America/Sao_Paulo", "America/Asuncion", "America/Santiago", "Asia/Beirut", "Africa/Cairo"]
)
def test_a_date_is_its_day_even_where_clocks_skip_its_midnight(tmp_path, zone):
    days = pl.datetime_range(pl.datetime(2010, 1, 1), pl.datetime(2018, 12, 31), "1d", eager=True)
    text = "".join(f"a,{day:%Y-%m-%d},7\n" for day in days.to_list())
    keys = {"cells": ["7"], "slot_minutes": 1440, "time_zone": zone}
    stream = prepared(tmp_path, {"a.csv": f"u,t,c\n{text}"}, **keys)
    assert (stream.length, stream.facts.rows_by_reason) == (days.len(), {"kept": days.len()})
    skipped = {"America/Sao_Paulo": "2018-11-04", "America/Asuncion": "2018-10-07"}.get(zone)
    if skipped:
        assert (
            prepared(tmp_path, {"a.csv": f"u,t,c\n{text}"}, origin=skipped, **keys).facts.origin[:10]
            == skipped
        )


def test_whole_hours_begin_at_full_hours(tmp_path):
    files = {"a.csv": "u,t,c\na,2024-05-01T10:01:27,7\nb,2024-05-01T11:00:30,7\n"}
    assert prepared(tmp_path, files, cells=["7"]).facts.origin == "2024-05-01 10:00:00"
    assert (
        prepared(tmp_path, files, cells=["7"], time_zone="Asia/Kolkata").facts.origin == "2024-05-01 10:00:00"
    )
    assert prepared(tmp_path, files, cells=["7"]).length == 2
    first = prepared(tmp_path, files, cells=["7"], origin="first")
    assert (first.facts.origin, first.length) == ("2024-05-01 10:01:27", 1)


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("unix_ms", [1_714_557_600, 1_714_561_200]),  # seconds
        ("unix_us", [1_714_557_600_000, 1_714_561_200_000]),  # milliseconds
        ("unix", [0, 1, 2, 30]),  # numbers of slots
        ("unix", [45413.25, 45413.5]),  # days of a spreadsheet
    ],
)
def test_a_wrong_unit_of_time_is_refused(tmp_path, form, values):
    text = "".join(f"a,{value},7\n" for value in values)
    refused(
        rf"times lie before 1980 .*time_format='{form}': must be another unit, slot for numbers of slots",
        tmp_path,
        {"a.csv": f"u,t,c\n{text}"},
        cells=["7"],
        time_format=form,
    )


def test_slots_may_be_numbered(tmp_path):
    files = {"a.csv": "u,t,c\na,0,7\nb,3,7\nc,2.5,7\n"}
    stream = prepared(tmp_path, files, cells=["7"], time_format="slot", slot_minutes=30, origin=0)
    assert stream.active.tolist() == [1, 0, 0, 1]
    assert stream.facts.rows_by_reason == {"kept": 2, "unparsable": 1}
    refused(
        "time_zone: must be UTC", tmp_path, files, cells=["7"], time_format="slot", time_zone="Asia/Tokyo"
    )


FAR = "u,t,x,y\na,2024-05-01T10:00Z,{0},{1}\nb,2024-05-01T10:00Z,{0},{1}\n"


@pytest.mark.parametrize(
    ("box", "x", "y"),
    [([0, 0, 5000, 5000], 4200, 900), ([1, 1, 200, 200], 150, 180), ([200, 30, 240, 50], 237.6, 47)],
)
def test_the_box_decides_where_degrees_are_not_told(tmp_path, box, x, y):
    stream = prepared(tmp_path, {"a.csv": FAR.format(x, y)}, box=box)
    assert (stream.facts.rows_by_reason, stream.facts.coordinates) == ({"kept": 2}, "plane")
    refused(r"box=.*must lie in \[-180, -90, 180, 90\]", tmp_path, {}, box=box, coordinates="degrees")


def test_degrees_that_are_told_are_checked(tmp_path):
    files = {"a.csv": "u,t,x,y\na,2024-05-01T10:00Z,1,1\nb,2024-05-01T10:00Z,999,1\n"}
    assert prepared(tmp_path, files).facts.rows_by_reason == {"kept": 1, "out_of_box": 1}
    told = prepared(tmp_path, files, coordinates="degrees")
    assert told.facts.rows_by_reason == {"kept": 1, "out_of_range": 1}


@pytest.mark.parametrize("box", [[0, 0, float("inf"), 1], [0, float("nan"), 1, 1], [0, 0, 1], [1, 0, 0, 1]])
def test_a_box_is_finite(tmp_path, box):
    refused(r"box=.*must be finite \[west, south, east, north\]", tmp_path, {}, box=box)


AT = "2024-05-01T10:00:00Z"


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([12, 12], dtype=pl.Int64),
        pl.Series([12.0, 12.0]),
        pl.Series(["12", "12.0"]),
        pl.Series(["12", " 12.00 "], dtype=pl.Categorical),
        pl.Series([12, 12]).cast(pl.Decimal(10, 2)),
    ],
)
def test_a_user_is_one_whatever_the_type_of_her_id(tmp_path, ids):
    table = pl.DataFrame({"u": ids, "t": [AT, AT], "c": ["7", "7"]})
    files = {
        "a.parquet": table,
        "b.csv": f"u,t,c\n12,{AT},7\n12.0,{AT},7\n",
        "c.ndjson": f'{{"u": 12, "t": "{AT}", "c": 7}}\n',
    }
    assert prepared(tmp_path, files, cells=["7"]).users == 1


def test_large_ids_of_floats_are_not_merged(tmp_path):
    table = pl.DataFrame({"u": [1e15, 1e15 + 1, 0.5], "t": [AT] * 3, "c": [7.0] * 3})
    assert prepared(tmp_path, {"a.parquet": table}, cells=["7"]).users == 3


def test_marks_of_missing_users_are_nobody(tmp_path):
    marks = ["NA", "NULL", "nan", r"\N", "", "null", "None", "-"]
    files = {"a.csv": "u,t,c\n" + "".join(f"{mark},{AT},7\n" for mark in [*marks, "a"])}
    assert prepared(tmp_path, files, cells=["7"]).facts.rows_by_reason == {
        "kept": 1,
        "unparsable": len(marks),
    }
    assert prepared(tmp_path, files, cells=["7"], missing=["a"]).users == len(marks) - 1


def test_a_cell_may_be_called_like_a_mark(tmp_path):
    files = {"a.csv": f"u,t,c\na,{AT},NA\nb,{AT},NULL\nc,{AT},ZA\nd,{AT},7.0\n"}
    stream = prepared(tmp_path, files, cells=["NA", "ZA", "7"])
    assert stream.counts.tolist() == [[1, 1, 1]]
    assert stream.facts.rows_by_reason == {"kept": 3, "unparsable": 1}


def test_other_encodings_are_told_or_refused(tmp_path):
    files = {"a.csv": f"u,t,c\nMüller,{AT},7\nMöller,{AT},7\n".encode("latin-1")}
    refused("column 'u': 'M\ufffdller': must be UTF-8, or encoding must say", tmp_path, files, cells=["7"])
    assert prepared(tmp_path, files, cells=["7"], encoding="latin-1").users == 2
    refused(
        "encoding='klingon': must be the name of an encoding",
        tmp_path,
        files,
        cells=["7"],
        encoding="klingon",
    )


def test_users_may_be_files_or_folders(tmp_path):
    rows = f"t,c\n{AT},7\n"
    files = {"ann/1.csv": rows, "ann/2.csv": rows, "bob/1.csv.gz": gzip.compress(rows.encode())}
    keys = {"cells": ["7"], "columns": {"time": "t", "cell": "c"}}
    assert prepared(tmp_path, files, **keys, user_from="folder").users == 2
    refused("user_from=file: '1' is there twice", tmp_path, files, **keys, user_from="file")
    flat = {"12.csv": rows, "bob.csv": rows}
    assert prepared(tmp_path / "flat", flat, **keys, user_from="file").users == 2
    refused("user_from=folder: must lie in a folder", tmp_path / "flat", flat, **keys, user_from="folder")
    years = {"ann/2024/a.csv": rows, "bob/2024/a.csv": rows}
    refused("user_from=folder: '2024' is there twice", tmp_path / "years", years, **keys, user_from="folder")
    refused("columns: user: missing: .*user_from.*format: counts", tmp_path, files, **keys)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("track.csv", rows)
    packed = {"ann.zip": content.getvalue()}
    refused("user_from=file: must not lie in a zip", tmp_path / "zip", packed, **keys, user_from="file")


def test_a_date_and_a_time_may_be_two_columns(tmp_path):
    files = {"a.csv": "u,d,t,c\na,2024-05-01,10:30,7\n"}
    columns = {"user": "u", "date": "d", "time": "t", "cell": "c"}
    assert prepared(tmp_path, files, cells=["7"], columns=columns).facts.origin == "2024-05-01 10:00:00"
    table = pl.DataFrame({"u": ["a"], "d": ["2024-05-01"], "t": ["10:30"], "c": ["7"]}).with_columns(
        pl.col("d").str.to_date(), pl.col("t").str.to_time("%H:%M")
    )
    stream = prepared(tmp_path / "two", {"a.parquet": table}, cells=["7"], columns=columns)
    assert stream.facts.origin == "2024-05-01 10:00:00"


def test_rows_may_be_filtered_and_are_counted(tmp_path):
    files = {"a.csv": f"u,t,c,kind\na,{AT},7,bike\nb,{AT},7,car\nc,{AT},7,\n"}
    one = prepared(tmp_path, files, cells=["7"], where={"kind": "bike"})
    assert one.facts.rows_by_reason == {"kept": 1, "filtered": 2}
    two = prepared(tmp_path, files, cells=["7"], where={"kind": ["bike", "car"]})
    assert two.facts.rows_by_reason == {"kept": 2, "filtered": 1}
    refused("column 'sort' is missing", tmp_path, files, cells=["7"], where={"sort": "bike"})


def test_what_a_cold_review_found(tmp_path):
    """Each of these moved, merged or lost records."""
    slots = {"a.csv": "u,t,c\na,9223372036854775807,7\nb,5124095576030432,7\nc,1,7\n"}
    keys = {"cells": ["7"], "time_format": "slot", "origin": 0}
    assert prepared(tmp_path, slots, **keys).facts.rows_by_reason == {"kept": 1, "unparsable": 2}
    marked = {"a.csv": f"\ufeffa,{AT},7\na,2024-05-01T11:00:00Z,7\n"}
    keys = {"cells": ["7"], "header": False, "columns": {"user": 1, "time": 2, "cell": 3}}
    assert prepared(tmp_path, marked, **keys).users == 1
    lines = {"a.csv": f'n,u,t,c,m\n"p\nq",A,{AT},7,"r\ns"\n'}
    assert prepared(tmp_path, lines, cells=["7"]).facts.rows_by_reason == {"kept": 1}
    minus = {"a.csv": f"u,t,c\n-1.0,{AT},7\n-1,{AT},7\nb,{AT},7\n"}
    assert prepared(tmp_path, minus, cells=["7"], missing=["-1"]).users == 1
    days = {"a.csv": "u,t,c\n" + "".join(f"a,2010-10-0{day},{day}\n" for day in (3, 4, 5))}
    keys = {"cells": ["3", "4", "5"], "slot_minutes": 1440, "time_zone": "America/Asuncion"}
    for origin in ("2010-10-03", "floor"):
        stream = prepared(tmp_path, days, origin=origin, **keys)
        assert (stream.counts.tolist(), stream.facts.origin) == (np.eye(3).tolist(), "2010-10-03 00:00:00")
    far = {"a.csv": "u,t,c\na,2024-05-01T10:00+15:00,7\nb,2024-05-01T10:00+14:00,7\n"}
    stream = prepared(tmp_path, far, cells=["7"], time_format="%Y-%m-%dT%H:%M%z")
    assert stream.facts.rows_by_reason == {"kept": 1, "unparsable": 1}


def test_an_empty_beginning_or_end_is_doubted():
    assert "before 2024-05-03 02:00:00: origin cuts" in doubts(stream_at([*[0] * 50, 3, 4]))[0]
    assert "after 2024-05-01 01:00:00: length cuts" in doubts(stream_at([3, 4, *[0] * 50]))[0]


def test_a_parquet_is_not_read_for_its_neighbour(tmp_path):
    table = pl.DataFrame({"u": ["a"], "t": [AT], "c": ["7"]})
    table.write_parquet(tmp_path / "rows.parquet")
    packed = gzip.compress((tmp_path / "rows.parquet").read_bytes())
    refused(
        "rows.parquet: a parquet in an archive; unpack it", tmp_path, {"rows.parquet.gz": packed}, cells=["7"]
    )
    refused("b.zip: not a whole file", tmp_path / "torn", {"a.csv": HERE, "b.zip": b"PK"}, cells=["7"])


def test_cells_may_stand_in_a_file(tmp_path):
    files = {"a.csv": f"u,t,c\na,{AT},007\nb,{AT},NO\n", "zones.txt": "NO\n\n007\n"}
    stream = prepared(tmp_path, files, cells_file="zones.txt")
    assert [cell.name for cell in stream.facts.cells] == ["NO", "007"]
    assert stream.counts.tolist() == [[1, 1]]
    files["zones.txt"] = "NA\n007\n"
    files["a.csv"] += f"c,{AT},NA\nd,{AT},NULL\n"
    stream = prepared(tmp_path, files, cells_file="zones.txt")
    assert stream.facts.rows_by_reason == {"kept": 2, "out_of_range": 1, "unparsable": 1}
    refused("cells_file='zone.txt': must lie beside", tmp_path, files, cells_file="zone.txt")
    refused(
        "zones.txt: 'a' is there twice", tmp_path, {**files, "zones.txt": "a\na\n"}, cells_file="zones.txt"
    )


def test_a_trip_is_two_records(tmp_path):
    columns = {"user": "u", "time": "t", "cell": "c", "end_time": "e", "end_cell": "f"}
    files = {"a.csv": "u,t,c,e,f\na,2024-05-01T10:00Z,7,2024-05-01T11:30Z,8\nb,2024-05-01T10:00Z,8,,\n"}
    stream = prepared(tmp_path, files, cells=["7", "8"], columns=columns)
    assert stream.counts.tolist() == [[1, 1], [0, 1]]
    assert stream.facts.rows_by_reason == {"kept": 3, "unparsable": 1}
    refused("must be .* with end_time", tmp_path, files, cells=["7"], columns={**NAMED, "end_time": "e"})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", HERE),
        ("a.tsv", HERE.replace(",", "\t")),
        ("a.csv.bz2", bz2.compress(HERE.encode())),
        ("a.csv.xz", lzma.compress(HERE.encode())),
        ("a.ndjson", '{"u": "a", "t": "2024-05-01T10:00:00Z", "c": 7}\n'),
        ("a.jsonl", '{"c": "7", "t": "2024-05-01T10:00:00Z", "u": "a", "z": [1]}\n'),
        ("a.csv", "\ufeff" + HERE.replace("\n", "\r\n")),
    ],
)
def test_kinds_of_files(tmp_path, name, content):
    assert prepared(tmp_path, {name: content}, cells=["7"]).facts.rows_by_reason == {"kept": 1}


@pytest.mark.parametrize("suffix", ["bz2", "xz"])
def test_a_torn_file_is_named(tmp_path, suffix):
    whole = {"bz2": bz2, "xz": lzma}[suffix].compress(HERE.encode())
    for content in (whole[:-9], b"no archive"):
        refused(
            rf"a\.csv\.{suffix}: not a whole file of its kind",
            tmp_path,
            {f"a.csv.{suffix}": content},
            cells=["7"],
        )


def test_without_a_header_columns_have_numbers(tmp_path):
    files = {"a.csv": f"a,{AT},7\nb,{AT},7\n"}
    keys = {"columns": {"user": 1, "time": 2, "cell": 3}, "cells": ["7"], "header": False}
    assert prepared(tmp_path, files, **keys).users == 2
    refused("header=False: .*must be numbers of columns", tmp_path, files, cells=["7"], header=False)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [(pl.Duration, [1]), (pl.Boolean, [True]), (pl.List(pl.Int64), [[1]]), (pl.Binary, [b"a"])],
)
def test_columns_of_other_types_are_named(tmp_path, dtype, values):
    table = pl.DataFrame({"u": pl.Series(values, dtype=dtype), "t": [AT], "c": ["7"]})
    refused(
        "a.parquet: column 'u': .*must be text, a number or a time",
        tmp_path,
        {"a.parquet": table},
        cells=["7"],
    )


def test_the_text_that_failed_is_shown(tmp_path):
    files = {"a.csv": 'u,t,x,y\na,2024-05-01 17:00:00 PDT,"16,37",1\n'}
    refused(r"u a, t 2024-05-01 17:00:00 PDT, x 16,37, y 1", tmp_path, files)


def test_files_that_are_not_read_are_named(tmp_path):
    for name in ("a.csv.zst", "b.gpx", "c.geojson", "d.xlsx", "notes.md"):
        (tmp_path / name).write_bytes(b"")
    mine = configured({"name": "mine", "title": "M", "format": "custom", "columns": NAMED, "cells": ["7"]})
    with pytest.raises(
        ValueError, match=r"not read there: a\.csv\.zst \(zstd -d .*b\.gpx \(ogr2ogr .*d\.xlsx"
    ):
        mine.fetch(tmp_path, Permission())
    assert len(mine.doubts(tmp_path)) == 4


def stream_at(active, **facts):
    counts = np.array(active)[:, None]
    known = StreamFacts(slot_minutes=60, origin="2024-05-01 00:00:00", time_zone="UTC", **facts)
    return Stream.from_counts(counts, facts=known).described()


def test_doubts_name_the_time_and_the_key():
    assert doubts(stream_at([3, 0, 4, 5, 3])) == []
    (early,) = doubts(stream_at([1, *[0] * 100, 9, 9, 8]))
    assert "after 2024-05-01 00:00:00 and before 2024-05-05 05:00:00" in early
    assert "origin: '2024-05-05 05:00:00' takes the larger part" in early
    (late,) = doubts(stream_at([9, 9, 8, *[0] * 100, 1]))
    assert "length: 3 takes the larger part" in late
    both = doubts(stream_at([1, *[0] * 1000, 9, 9, 8, *[0] * 100, 1]))
    assert ["origin" in both[0], "length: 3" in both[1]] == [True, True]
    (sparse,) = doubts(stream_at([1, 0, 0] * 20))
    assert "nobody is there in 40 of 60 slots" in sparse
    (one,) = doubts(stream_at([3]))
    assert "all records lie in one slot" in one


def test_doubts_about_dates_and_users():
    old = StreamFacts(slot_minutes=60, origin="1970-01-19 00:00:00")
    assert "1970-01-19" in doubts(Stream.from_counts([[1], [1]], facts=old).described())[0]
    t = np.repeat(np.arange(10), 20)
    each = Stream.from_panel(t, np.arange(200), t % 3, 3, facts=StreamFacts(rows_by_reason={"kept": 200}))
    assert "each of 200 users has one record" in doubts(each.described())[0]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("time_zone", 5, "time_zone=5: must be text"),
        ("day_zone", "Mars", "day_zone='Mars': must be a name as Europe/Lisbon"),
        ("missing", "NA", "missing='NA': must be a list"),
        ("where", ["a"], r"where=\['a'\]: must be names and values"),
        ("files", [], r"files=\[\]: must be a list of at least one"),
        ("header", "no", "header='no': must be true or false"),
        ("separator", 5, "separator=5: must be text"),
        ("user_from", "path", "user_from='path': must be one of column, file, folder"),
        ("columns", ["u"], r"columns=\['u'\]: must be names and values"),
        ("coordinates", "metres", "coordinates='metres': must be one of degrees, plane"),
        ("origin", True, "origin=True: must be text"),
        ("origin", 10**30, r"origin=1\d*: must be floor, first, an ISO time, or seconds since 1970"),
        ("origin", "9999999-01-01", "must be floor, first, an ISO time"),
        ("slot_minutes", 10**12, "slot_minutes=1000000000000: must be at most"),
        ("slot_minutes", True, "slot_minutes=True: must be an integer"),
        ("length", 2.5, r"length=2\.5: must be an integer"),
        ("length", 10**12, "T = 1,000,000,000,000 slots of 1 cells .* are too many"),
        ("time_format", "", "time_format='': must be iso, unix"),
        ("cells_file", "zones.txt", "cells: must name all cells"),
        ("title", 7, "title=7: must be text; a name that looks like a number needs quotes"),
        ("replicate", 0, "replicate=0: must be at least 1"),
        ("raw", 5, "raw=5: must be text"),
    ],
)
def test_a_value_that_a_key_cannot_have_is_refused(tmp_path, key, value, message):
    refused(message, tmp_path, {"a.csv": HERE}, **{"cells": ["7"], key: value})


def test_paths_into_json_are_checked(tmp_path):
    columns = {"user": "$..[", "time": "t", "cell": "c"}
    refused(
        r"columns: '\$\.\.\[': must be the name of a value",
        tmp_path,
        {"a.ndjson": "{}\n"},
        cells=["7"],
        columns=columns,
    )
    text = f'{{"p": {{"id": "a"}}, "t": "{AT}", "it\'s": 7}}\n[]\nnone\n'
    columns = {"user": "$.p.id", "time": "t", "cell": "it's"}
    stream = prepared(tmp_path, {"a.ndjson": text}, cells=["7"], columns=columns)
    assert stream.facts.rows_by_reason == {"kept": 1, "unparsable": 2}


def test_a_zip_that_cannot_be_opened_is_named_and_a_fault_of_ours_is_not(tmp_path, monkeypatch):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.csv", HERE)
    locked = bytearray(content.getvalue())
    for head in (b"PK\x03\x04", b"PK\x01\x02"):
        locked[locked.index(head) + (6 if head == b"PK\x03\x04" else 8)] |= 1  # says that it is encrypted
    refused(
        "a.zip: not a whole file of its kind .*encrypted", tmp_path, {"a.zip": bytes(locked)}, cells=["7"]
    )

    def broken(*args):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("mtsp_ldp.datasets.formats.custom.read_table", broken)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        prepared(tmp_path / "own", {"a.csv": HERE}, cells=["7"])


def test_names_that_a_float_or_a_long_number_would_merge_are_not_read(tmp_path):
    where = {"t": ["2024-05-01 10:00"] * 2, "c": ["7", "7"]}
    large = pl.DataFrame({"u": [10**19, 10**19 + 1], **where}, schema_overrides={"u": pl.UInt64})
    assert prepared(tmp_path / "a", {"a.parquet": large}, cells=["7"]).users == 2
    for kind in (pl.Float64, pl.Float32):
        message = "column 'u': .*e.1[89].*: must be text or an integer"
        refused(message, tmp_path / "b", {"a.parquet": large.cast({"u": kind})}, cells=["7"])
    lines = "".join(
        f'{{"u": {user}, "t": "2024-05-01 10:00", "c": "7"}}\n'
        for user in (100000000000000000001, 100000000000000000002, '"100000000000000000001"', '"1e20"', 12)
    )
    facts = prepared(tmp_path / "c", {"a.ndjson": lines}, cells=["7"]).facts
    assert facts.rows_by_reason == {"kept": 3, "unparsable": 2}


def test_a_cell_is_the_same_whatever_its_zeros(tmp_path):
    rows = "u,t,c\na,2024-05-01 10:00,12\nb,2024-05-01 10:00,12.0\nc,2024-05-01 10:00,12.00\n"
    assert prepared(tmp_path, {"a.csv": rows}, cells=["12.0"]).counts.tolist() == [[3]]
    refused("'12' and '12.0' are one name", tmp_path, {}, cells=["12.0", "12"])
    refused("'a ': must be a name, without blanks", tmp_path, {}, cells=["a "])


def test_an_empty_text_can_be_asked_for(tmp_path):
    rows = "u,t,c,ok\na,2024-05-01 10:00,7,\nb,2024-05-01 10:00,7,x\n"
    facts = prepared(tmp_path, {"a.csv": rows}, cells=["7"], where={"ok": [""]}).facts
    assert facts.rows_by_reason == {"filtered": 1, "kept": 1}
    refused(
        r"where\.ok=1\.5: must be text.*, or a list$",
        tmp_path,
        {"a.csv": rows},
        cells=["7"],
        where={"ok": 1.5},
    )


@pytest.mark.parametrize(
    ("form", "text", "clock"),
    [
        ("%Y%m%d%H%M%S", "20240501010512", "2024-05-01 01:00:00"),
        ("%Y%m%d%H%M%S", "2024050110512", None),
        ("%d/%m/%Y %H%M", "1/5/2024 0105", "2024-05-01 01:00:00"),
        ("%d/%m/%Y %H%M", "1/5/2024 105", None),
        ("%Y%m%dT%H%M%SZ", "20240501T010512Z", "2024-05-01 01:00:00"),
        ("%Y%m%dT%H%M%S%z", "20240501T10512+0000", None),
        ("%Y-%m-%d %H%M%S%.f", "2024-05-01 010512.5", "2024-05-01 01:00:00"),
    ],
)
def test_a_time_that_lost_a_zero_is_no_other_time(tmp_path, form, text, clock):
    rows = f"u,t,c\na,{text},7\n"
    if clock is None:
        refused("no record is kept .unparsable 1", tmp_path, {"a.csv": rows}, cells=["7"], time_format=form)
    else:
        assert prepared(tmp_path, {"a.csv": rows}, cells=["7"], time_format=form).facts.origin == clock


@pytest.mark.parametrize(
    ("first", "start"),
    [
        ("2024-03-31 03:30", "2024-03-31 00:00:00"),
        ("2024-03-31 13:30", "2024-03-31 12:00:00"),
        ("2024-10-27 13:30", "2024-10-27 12:00:00"),
        ("2024-10-27T01:30:00Z", "2024-10-27 00:00:00"),
    ],
)
def test_half_days_begin_by_the_clock_on_days_when_it_changes(tmp_path, first, start):
    rows = f"u,t,c\na,{first},7\n"
    keys = {"cells": ["7"], "time_zone": "Europe/Lisbon", "slot_minutes": 720}
    assert prepared(tmp_path, {"a.csv": rows}, **keys).facts.origin == start


def test_an_origin_that_clocks_skip_is_refused(tmp_path):
    keys = {"cells": ["7"], "time_zone": "Europe/Lisbon", "origin": "2024-03-31 01:30"}
    refused("origin='2024-03-31 01:30': must be a time that Europe/Lisbon has", tmp_path, {}, **keys)


MANY = "u,t,c\n" + "".join(
    f"u{n % 500},2024-06-{1 + n % 28:02d} {n // 28 % 24:02d}:00,7\n" for n in range(3000)
)


@pytest.mark.parametrize(
    ("lone", "key"),
    [("2024-02-01 10:00", "origin: '2024-06-01 00:00:00'"), ("2024-07-20 10:00", "length: 672")],
)
def test_a_lone_record_far_from_the_others_is_doubted(tmp_path, lone, key):
    described = prepared(tmp_path, {"a.csv": f"{MANY}z,{lone},7\n"}, cells=["7"]).described()
    assert any(key in line for line in doubts(described))
    assert not doubts(prepared(tmp_path / "b", {"a.csv": MANY}, cells=["7"]).described())


def test_holds_end_with_the_last_record_and_are_repeated_in_parts(tmp_path):
    rows = "u,t,c\na,2024-05-01 00:00,7\nb,2024-05-02 00:00,7\n"
    stream = prepared(tmp_path, {"a.csv": rows}, cells=["7"], hold=100_000)
    assert stream.counts.ravel().tolist() == [*[1] * 24, 2]
    settled = pl.DataFrame(
        {"user": [0, 1, 1], "t": [0, 0, 3], "cell": [1, 2, 3]}, schema_overrides={"t": pl.Int32}
    )
    whole = pl.concat(extend(settled, 5, 9)).sort("user", "t")
    parts = list(extend(settled, 5, 9, rows=4))
    assert len(parts) > 1
    assert pl.concat(parts).sort("user", "t").equals(whole)
    assert whole["t"].to_list() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("name", ["b.dat", "b.ods", "b", "b.csv.zst", "b.csv", "sub/b.xlsx"])
def test_whatever_lies_beside_the_files_and_is_not_read_is_named(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(HERE)
    for about in ("README", "licence.txt", "guide.pdf", "receipt.json"):
        (tmp_path / about).write_text("about")
    keys = {"name": "mine", "title": "Mine", "format": "custom", "columns": NAMED, "cells": ["7"]}
    (line,) = configured({**keys, "files": ["a.txt"]}).doubts(tmp_path)
    assert line.startswith(f"not read: {path.name} (")


@pytest.mark.parametrize("listed", ["cells.txt", "CELLS.TXT", "cells.txt.gz"])
@pytest.mark.parametrize("place", ["Cells.txt.gz", "sub/cells.txt.gz"])
def test_a_list_of_cells_is_found_as_other_files_are(tmp_path, listed, place):
    files = {"a.csv": HERE, place: gzip.compress(b"7\n")}
    assert prepared(tmp_path, files, cells_file=listed).counts.tolist() == [[1]]
    refused("must be the name of a file", tmp_path, {}, cells_file=f"sub/{listed}")
    twice = {"a.csv": HERE, "x/cells.txt": "7\n", "y/cells.txt": "8\n"}
    refused("must be one file; there are", tmp_path / "b", twice, cells_file=listed)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[{"u": "a", "t": "2024-05-01 10:00", "c": "7"}]\n', r"'\.\[\]'"),
        ('{\n "u": "a",\n "t": "2024-05-01 10:00",\n "c": "7"\n}\n', r"'\.'"),
    ],
)
def test_json_that_is_no_object_a_line_is_refused_with_the_command(tmp_path, text, parts):
    refused(f"must hold an object a line; `jq -c {parts}", tmp_path, {"a.ndjson": text}, cells=["7"])


def test_a_header_of_another_encoding_is_called_so(tmp_path):
    rows = "u,t,Größe\na,2024-05-01 10:00,7\n".encode("latin-1")
    keys = {"cells": ["7"], "columns": {"user": "u", "time": "t", "cell": "Größe"}}
    refused("column 'Größe' is missing.*encoding must say", tmp_path, {"a.csv": rows}, **keys)
    assert prepared(tmp_path, {"a.csv": rows}, **keys, encoding="latin-1").users == 1


@pytest.mark.parametrize("column", ["*", "^u.*$"])
def test_a_pattern_is_no_column(tmp_path, column):
    keys = {"cells": ["7"], "columns": {"user": column, "time": "t", "cell": "c"}}
    refused("must be the name of one column", tmp_path, {}, **keys)


@pytest.mark.parametrize("separator", ['"', "\n", "\r", ";;", ""])
def test_a_separator_is_one_character_that_separates(tmp_path, separator):
    refused("separator=.*: must be one character", tmp_path, {}, cells=["7"], separator=separator)


@pytest.mark.parametrize("name", ["ü", "a'b", "{x}", "../x", "My City", "x/y", "a.b", "-x", ""])
@pytest.mark.parametrize("key", ["name", "raw"])
def test_a_data_set_has_a_plain_name(name, key):
    keys = {"name": "mine", "title": "Mine", "format": "custom", "columns": NAMED, "cells": ["7"]}
    with pytest.raises(ValueError, match=f"^{key}=.*: must be a name of letters"):
        configured({**keys, key: name})
