"""From records to rows: slots on clocks, what is dropped and why, whatever the order and the batches."""

import gzip
import math
from collections import Counter
from datetime import UTC, datetime
from itertools import count
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.ingest import external_sort as spool
from mtsp_ldp.datasets.ingest.assembly import assemble
from mtsp_ldp.datasets.ingest.domain import Labels, Squares
from mtsp_ldp.datasets.ingest.positions import Rules
from mtsp_ldp.datasets.ingest.slots import Slots
from mtsp_ldp.datasets.ingest.timestamps import read
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.streams.facts import StreamFacts

HOUR = 3600 * 1_000_000
ABC = Labels(["a", "b", "c"])
HOURLY = Slots(60, "UTC", 0, None)
_folders = count()


def frame(rows):
    """Records ``(user, hours since 1970, label)``."""
    schema = {"user": pl.Int64, "time": pl.Int64, "label": pl.String}
    table = pl.DataFrame(
        [(u, None if t is None else round(t * HOUR), c) for u, t, c in rows], schema, orient="row"
    )
    return table.with_columns(reason=pl.lit(None, pl.String))


def made(tmp_path, records, slots=HOURLY, domain=ABC, batches=1, **rules):
    frames = [frame(records[start::batches]) for start in range(batches)]
    return assemble(frames, domain, slots, Rules(**rules), tmp_path / f"scratch{next(_folders)}")


def triples(rows):
    return list(zip(rows.t.tolist(), rows.user.tolist(), rows.cell.tolist(), strict=True))


def test_the_last_record_of_a_slot_counts_or_the_first_or_the_most(tmp_path):
    records = [(5, 0.1, "a"), (5, 0.2, "a"), (5, 0.3, "b"), (5, 0.4, "c"), (5, 1.5, "b")]
    for rule, cell in (("last", 2), ("first", 0), ("most", 0)):
        rows = made(tmp_path, records, within_slot=rule)
        assert triples(rows) == [(0, 0, cell), (1, 0, 1)]
        assert rows.reasons == {"kept": 2, "superseded_in_slot": 3}
    # of two cells with as many records the later one
    assert triples(made(tmp_path, records[1:], within_slot="most"))[0] == (0, 0, 2)


def test_duplicates_are_told_from_superseded(tmp_path):
    rows = made(tmp_path, [(1, 0.5, "a"), (1, 0.5, "a"), (1, 0.5, "b")])
    assert rows.reasons == {"duplicate": 1, "kept": 1, "superseded_in_slot": 1}


def test_a_position_holds_until_the_next_one_or_its_time(tmp_path):
    rows = made(tmp_path, [(1, 0, "a"), (1, 2, "b"), (2, 9, "c")], hold=4)
    assert triples(rows) == [(0, 0, 0), (1, 0, 0), *[(t, 0, 1) for t in range(2, 6)], (9, 1, 2)]
    assert rows.length == 10  # the hold does not make the stream longer


def test_users_need_their_minimum_in_the_window(tmp_path):
    records = [(1, 0, "a"), (1, 1, "a"), (2, 0, "b"), (2, 0, "b"), (3, 0, "c"), (3, 5, "c")]
    rows = made(tmp_path, records, Slots(60, "UTC", 0, 3), minimum_reports=2)
    assert triples(rows) == [(0, 0, 0), (1, 0, 0)]
    assert rows.reasons == {"after_window": 1, "duplicate": 1, "kept": 2, "under_minimum": 2}


def test_users_seen_once_stay_and_slots_and_cells_may_be_empty(tmp_path):
    rows = made(tmp_path, [(7, 0, "a"), (8, 5, "a")])
    assert rows.length == 6
    assert triples(rows) == [(0, 0, 0), (5, 1, 0)]


def test_the_first_record_in_the_domain_starts_the_stream(tmp_path):
    rows = made(
        tmp_path,
        [(1, 1, "elsewhere"), (1, 7.25, "a"), (1, 8.2, "b"), (1, 8.3, "c")],
        Slots(60, "UTC", "first", None),
    )
    assert rows.start == 7.25 * HOUR
    assert triples(rows) == [(0, 0, 1), (1, 0, 2)]


def test_a_slot_longer_than_the_data_is_one_slot(tmp_path):
    rows = made(tmp_path, [(1, 3, "a"), (2, 9, "b")], Slots(7 * 24 * 60 - 1, "UTC", None, None))
    assert (rows.length, triples(rows)) == (1, [(0, 0, 0), (0, 1, 1)])


def test_nothing_kept_is_an_error_that_says_why(tmp_path):
    with pytest.raises(ValueError, match="no record is kept") as caught:
        made(tmp_path, [(1, 1, "y"), (1, 0, "x"), (None, 2, "a")])
    assert str(caught.value).startswith(
        "no record is kept (out_of_range 2 (as user 1, time 1970-01-01 00:00:00, label x), "
        "unparsable 1 (as user None, time 1970-01-01 02:00:00, label a)): columns, box"
    )
    with pytest.raises(ValueError, match=r"no record is kept \(before_window 1\)"):
        made(tmp_path, [(1, 0, "a")], Slots(60, "UTC", 5 * HOUR, None))
    with pytest.raises(ValueError, match=r"no record is kept \(there is none\)"):
        made(tmp_path, [])


def test_an_absurd_time_is_told_and_none_is_lost(tmp_path):
    with pytest.raises(
        ValueError,
        match="slots of 3 cells from 1970-01-01T00:00 to 13377-12-11T17:00 are too many: set origin",
    ):
        made(tmp_path, [(1, 0, "a"), (1, 1e8, "b")], HOURLY)
    minutes = Slots(1, "UTC", 0, None)
    rows = made(tmp_path, [(1, 0, "a"), (1, 4e7, "b")], minutes)
    assert rows.reasons == {"after_window": 1, "kept": 1}


def at(text, zone="UTC"):
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1e6) / HOUR


def test_days_are_calendar_days_even_when_clocks_change(tmp_path):
    zone = "America/New_York"
    records = [
        (1, at("2021-03-13 23:59", zone), "a"),
        (1, at("2021-03-14 00:00", zone), "b"),  # 23 hours long
        (1, at("2021-03-14 23:59", zone), "b"),
        (1, at("2021-03-15 00:00", zone), "c"),
    ]
    rows = made(tmp_path, records, Slots(1440, zone, None, None))
    assert triples(rows) == [(0, 0, 0), (1, 0, 1), (2, 0, 2)]
    # by the hour the night of the change has no third hour, and no hour is skipped
    hours = made(tmp_path, [(1, at("2021-03-14 01:30", zone), "a"), (1, at("2021-03-14 03:30", zone), "b")],
                 Slots(60, zone, None, None))  # fmt: skip
    assert triples(hours) == [(0, 0, 0), (1, 0, 1)]


def test_a_day_begins_at_midnight_of_its_zone(tmp_path):
    records = [(1, at("2021-06-01 21:30"), "a"), (1, at("2021-06-01 22:30"), "b")]
    assert triples(made(tmp_path, records, Slots(1440, "UTC", None, None))) == [(0, 0, 1)]
    assert triples(made(tmp_path, records, Slots(1440, "Africa/Johannesburg", None, None))) == [
        (0, 0, 0),
        (1, 0, 1),
    ]


TIMES = [
    ("2021-03-14T01:30:00Z", "iso", "2021-03-14 01:30:00+00:00"),
    ("2021-03-14 01:30", "iso", "2021-03-14 06:30:00+00:00"),
    ("2021-03-14T01:30:00.250+05:30", "iso", "2021-03-13 20:00:00.250000+00:00"),
    ("2021-03-14T01:30:00-0330", "iso", "2021-03-14 05:00:00+00:00"),
    ("2021-07-14T01:30:00", "iso", "2021-07-14 05:30:00+00:00"),
    ("2021-03-14T02:30:00", "iso", None),  # clocks skip it
    ("2021-11-07T01:30:00", "iso", "2021-11-07 05:30:00+00:00"),  # it comes twice: the first
    ("2021-13-14T02:30:00", "iso", None),
    ("2021-07-14", "iso", "2021-07-14 04:00:00+00:00"),
    ("2021-03-14 01:30:00+00", "iso", "2021-03-14 01:30:00+00:00"),
    ("2021-03-14 01:30:00.123456789Z", "iso", "2021-03-14 01:30:00.123456+00:00"),
    ("soon", "iso", None),
    (None, "iso", None),
    ("1615685400", "unix", "2021-03-14 01:30:00+00:00"),
    ("1615685400.5", "unix", "2021-03-14 01:30:00.500000+00:00"),
    ("1615685400500", "unix_ms", "2021-03-14 01:30:00.500000+00:00"),
    ("nan", "unix", None),
    ("inf", "unix", None),
    ("14.03.2021 01:30", "%d.%m.%Y %H:%M", "2021-03-14 06:30:00+00:00"),
    ("14.03.2021 01:30 +0100", "%d.%m.%Y %H:%M %z", "2021-03-14 00:30:00+00:00"),
    ("14.03.2021 01:30 -05:30", "%d.%m.%Y %H:%M %:z", "2021-03-14 07:00:00+00:00"),
    ("14.03.2021 01:30", "%d.%m.%Y %H:%M %z", None),
]


@pytest.mark.parametrize(("text", "form", "meant"), TIMES)
def test_times_are_read_as_written(text, form, meant):
    table = pl.DataFrame({"time": [text]}, schema={"time": pl.String})
    micros = table.select(read(pl.col("time"), form, "America/New_York")).item()
    told = None if micros is None else str(datetime.fromtimestamp(micros / 1e6, UTC))
    assert told == meant


RECORDS = st.lists(
    st.tuples(
        st.sampled_from([3, 1, 20, None]),
        st.one_of(st.none(), st.floats(-3, 12, allow_nan=False)),
        st.sampled_from(["a", "b", "c", "z", None]),
    ),
    min_size=1,
    max_size=40,
)


@settings(deadline=None)
@given(
    records=RECORDS, rule=st.sampled_from(["last", "first", "most"]), hold=st.integers(1, 3), data=st.data()
)
def test_order_batches_and_spooling_change_nothing_and_every_record_counts(
    tmp_path_factory, records, rule, hold, data
):
    tmp_path = tmp_path_factory.mktemp("any")
    slots, rules = Slots(60, "UTC", 0, 10), {"within_slot": rule, "hold": hold, "minimum_reports": 2}

    def outcome(records, batches):
        try:
            rows = made(tmp_path, records, slots, batches=batches, **rules)
        except ValueError as error:
            return str(error)
        assert sum(rows.reasons.values()) == rows.records == len(records)
        keys = np.array(triples(rows))[:, :2].tolist()
        assert keys == sorted(keys)
        assert len(set(map(tuple, keys))) == len(keys)
        return triples(rows), rows.reasons

    whole = outcome(records, 1)
    again = data.draw(st.permutations(records))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "ROWS", 3)
        assert outcome(again, data.draw(st.integers(1, 4))) == whole


def test_a_hold_ends_where_its_user_is_seen_elsewhere(tmp_path):
    records = [(1, 0, "a"), (1, 1, "z"), (2, 0.2, "b"), (2, 0.5, "z")]
    records += [(3, 0.5, "z"), (3, 0.6, "c"), (4, 2, "z")]
    rows = made(tmp_path, records, Slots(60, "UTC", 0, 6), hold=3)
    # who leaves in the slot of her position is there in it; who was elsewhere before it stays
    assert triples(rows) == [(0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 2, 2), (2, 2, 2)]
    assert rows.reasons == {"kept": 3, "out_of_range": 4}


@pytest.mark.parametrize(
    ("second", "until"),
    [
        ({"x": 9.0, "y": 1.0}, 2),  # outside of the box
        ({"x": 9.0, "y": 1.0, "reason": "cancelled"}, 5),
        ({"x": 1.0, "y": 1.0, "reason": "outside"}, 2),
        ({"x": 99.0, "y": 1.0}, 5),  # nowhere
        ({"x": None, "y": 9.0}, 5),
        ({"x": math.nan, "y": 1.0}, 5),
        ({"x": math.inf, "y": 1.0}, 5),
    ],
)
def test_only_what_says_where_its_user_is_ends_a_hold(tmp_path, second, until):
    grid = Squares((0.0, 0.0, 8.0, 4.0), 2, (-10.0, -10.0, 10.0, 10.0))
    rows = [{"x": 1.0, "y": 1.0, "reason": None, "time": 0}, {"reason": None, **second, "time": 2 * HOUR}]
    table = pl.DataFrame(rows, {"time": pl.Int64, "x": pl.Float64, "y": pl.Float64, "reason": pl.String})
    table = table.with_columns(user=pl.lit(1, pl.Int64))
    found = assemble([table], grid, Slots(60, "UTC", 0, 9), Rules(hold=5), tmp_path / "scratch")
    assert found.t.tolist() == list(range(until))


def test_an_absurd_time_elsewhere_is_only_counted(tmp_path):
    absurd = (1, -2.5e9, "z")
    rows = made(tmp_path, [(1, 0, "a"), absurd], Slots(1, "UTC", 0, 9), hold=3)
    assert rows.reasons == {"kept": 1, "out_of_range": 1}
    with pytest.raises(ValueError, match=r"no record is kept \(out_of_range 1 \(as user 1, time -9000000000"):
        made(tmp_path, [absurd], Slots(1, "UTC", 0, 9), hold=3)


@settings(deadline=None)
@given(records=RECORDS, rule=st.sampled_from(["last", "first", "most"]), hold=st.integers(2, 5))
def test_holding_agrees_with_a_walk_through_the_records(tmp_path_factory, records, rule, hold):
    tmp_path = tmp_path_factory.mktemp("hold")
    length = 10
    records = [one for one in records if one[0] is not None and one[1] is not None and one[2] is not None]
    try:
        chosen = triples(made(tmp_path, records, Slots(60, "UTC", 0, length), within_slot=rule))
    except ValueError:
        return
    inside = [one for one in records if one[2] != "z" and 0 <= round(one[1] * HOUR) < length * HOUR]
    users = sorted({user for user, _, _ in inside})
    wanted = []
    for t, number, cell in chosen:
        mine = [(round(when * HOUR), label) for user, when, label in records if user == users[number]]
        latest = max(when for when, label in mine if label != "z" and when // HOUR == t)
        ends = [when // HOUR for when, label in mine if when > latest]
        until = min([t + hold, length, *(max(end, t + 1) for end in ends)])
        wanted += [(slot, number, cell) for slot in range(t, until)]
    rows = made(tmp_path, records, Slots(60, "UTC", 0, length), within_slot=rule, hold=hold)
    assert triples(rows) == sorted(wanted)


def test_squares_are_half_open_but_at_the_outer_border():
    grid = Squares((0.0, 0.0, 8.0, 4.0), 2, (-10.0, -10.0, 10.0, 10.0))
    places = [(0, 0), (3.99, 1.99), (4, 0), (8, 4), (-0.1, 0), (11, 0), (float("nan"), 1)]
    numbered = grid.numbered(pl.DataFrame(places, schema=["x", "y"], orient="row"))
    names = [cell.name for cell in grid.cells()]
    found = [None if cell is None else names[cell] for cell in numbered["cell"]]
    assert found == ["(0, 0)", "(0, 0)", "(1, 0)", "(1, 1)", None, None, None]
    assert numbered["misplaced"].to_list()[4:6] == ["out_of_box", "out_of_range"]
    middle = {cell.name: (cell.x, cell.y) for cell in grid.cells()}
    assert middle["(1, 0)"] == (6.0, 1.0)


@pytest.mark.parametrize("side", [1, 2, 3, 5, 8, 10, 20])
def test_squares_of_any_side_are_numbered_once(side):
    grid = Squares((0.0, 0.0, 1.0, 1.0), side, (0.0, 0.0, 1.0, 1.0))
    assert len({cell.name for cell in grid.cells()}) == grid.d == side * side


CUSTOM = {
    "name": "mine",
    "title": "Mine",
    "format": "custom",
    "columns": {"user": "phone", "time": "when", "x": "lon", "y": "lat"},
    "box": [0, 0, 2, 2],
    "grid": 2,
    "slot_minutes": 60,
    "origin": "2024-05-01",
}


@pytest.mark.parametrize("kind", ["csv", "CSV", "csv.gz", "parquet", "times"])
def test_a_file_of_ones_own(tmp_path, kind):
    table = pl.DataFrame(
        {
            "lat": [0.5, 1.5, 9.0, 0.5],
            "lon": [0.5, 1.5, 0.5, None],
            "phone": ["x", "x", "y", "z"],
            "when": [
                "2024-05-01T00:10:00Z",
                "2024-05-01T01:10:00Z",
                "2024-05-01T00:20:00Z",
                "2024-05-01T00:20:00Z",
            ],
        }
    )
    if kind in ("csv", "CSV"):
        table.write_csv(tmp_path / f"a.{kind}")
    elif kind == "csv.gz":
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(table.write_csv().encode()))
    elif kind == "parquet":
        table.write_parquet(tmp_path / "a.parquet")
    else:
        times = table.with_columns(pl.col("when").str.to_datetime(time_zone="UTC"))
        times.write_parquet(tmp_path / "a.parquet")
    stream = configured(CUSTOM).prepare(tmp_path)
    assert stream.facts.rows_by_reason == {"kept": 2, "out_of_box": 1, "unparsable": 1}
    assert stream.counts.sum(axis=1).tolist() == [1, 1]
    assert stream.facts.box == (0, 0, 2, 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b""),
        ("a.csv.gz", b"phone,when"),
        ("a.csv.gz", gzip.compress(b"phone,when,lon,lat\n" * 99, mtime=0)[:-9]),
        ("a.csv.zip", b"phone,when"),
    ],
)
def test_a_damaged_file_of_ones_own_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"mine: {name}: not a whole file of its kind") as told:
        configured(CUSTOM).prepare(tmp_path)
    assert "\n" not in str(told.value)


def test_milliseconds_that_are_read_as_seconds_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("phone,when,lon,lat\nx,1704067200000,0.5,0.5\ny,1704067200000,9,9\n")
    seconds = {**CUSTOM, "time_format": "unix", "origin": "first"}
    with pytest.raises(ValueError, match=r"the first record is of 55969-\d\d-\d\d: the reading of times"):
        configured(seconds).prepare(tmp_path)
    (tmp_path / "a.csv").write_text("phone,when,lon,lat\ny,1704067200000,9,9\n")
    with pytest.raises(ValueError, match=r"out_of_box 1 \(as user y, time \+55969-"):
        configured(seconds).prepare(tmp_path)


@pytest.mark.parametrize("name", ["A.CSV", "a.csv.GZ", "A.CSV.GZ"])
def test_names_may_be_of_any_case(tmp_path, name):
    rows = b"phone,when,lon,lat\nx,2024-05-01T00:10:00Z,0.5,0.5\n"
    (tmp_path / name).write_bytes(gzip.compress(rows) if name.lower().endswith("gz") else rows)
    assert configured(CUSTOM).prepare(tmp_path).counts.sum() == 1


def test_what_became_of_records_is_told_with_a_warning_where_most_are_of_no_use():
    told = {"rows": 1000, "rows_by_reason": {"kept": 490, "superseded_in_slot": 10, "unparsable": 500}}
    assert (
        StreamFacts(**told).describe_drops()
        == "Of 1,000 records: kept 490, superseded in slot 10, unparsable 500"
    )
    told["rows_by_reason"] |= {"kept": 489, "out_of_box": 1}
    assert StreamFacts(**told).describe_drops().endswith("out of box 1; WARNING: most have no readable place")


def test_cells_by_name_keep_their_order(tmp_path):
    (tmp_path / "a.csv").write_text("who;t;area\n1;0;south\n2;0; north \n3;60;west\n")
    config = {
        "name": "mine",
        "title": "Mine",
        "format": "custom",
        "columns": {"user": "who", "time": "t", "cell": "area"},
        "cells": ["north", "south"],
        "time_format": "unix",
        "separator": ";",
        "slot_minutes": 1,
        "origin": 0,
    }
    stream = configured(config).prepare(tmp_path)
    assert stream.counts.tolist() == [[1, 1]]
    assert Counter(stream.facts.rows_by_reason) == {"kept": 2, "out_of_range": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": {"user": "u", "time": "t"}}, r"columns=\['time', 'user'\]"),
        ({"cells": ["a"]}, "cells: must name all cells if"),
        ({"columns": {"user": "u", "time": "t", "cell": "c"}}, "cells: must name"),
        (
            {"columns": {"user": "u", "time": "t", "cell": "c"}, "cells": ["a", "a"]},
            "cells: 'a' is there twice: must be different names",
        ),
    ],
)
def test_bad_columns_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        configured({**CUSTOM, **change})


def test_a_missing_file_of_ones_own_is_asked_for(tmp_path):
    with pytest.raises(
        ValueError, match=r"mine: raw files missing: .*\*\.csv, .*\*\.parquet.*a table of your own"
    ):
        configured({**CUSTOM, "origin": 0}).fetch(tmp_path / "mine", Permission())
