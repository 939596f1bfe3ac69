"""Every published format, read from made rows in its exact layout; what comes out was worked out by hand."""

import gzip
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mtsp_ldp.datasets.base import configured, formats
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiments.config import dataset_config, load_dataset

RAW = Path(__file__).resolve().parents[1] / "raw"

# stream: T, users, origin, what became of the records, and (t, user, cell) of the first rows
EXPECTED = {
    "tdrive": (
        886,
        2,
        "2008-02-02 13:30:04",
        {
            "duplicate": 1,
            "kept": 7,
            "out_of_box": 2,
            "out_of_range": 1,
            "superseded_in_slot": 2,
            "unparsable": 2,
        },
        [(0, 0, "(1, 2)"), (0, 1, "(8, 8)"), (1, 0, "(1, 2)"), (1, 1, "(10, 8)"), (2, 0, "(1, 2)")],
    ),
    "yjmob100k": (
        3600,
        2,
        "1970-01-01 00:00:00",
        {"after_window": 1, "duplicate": 1, "kept": 8, "out_of_range": 3, "unparsable": 1},
        [(0, 0, "(0, 7)"), (0, 1, "(0, 0)"), (1, 1, "(0, 0)"), (2, 1, "(1, 0)"), (47, 1, "(7, 7)")],
    ),
    "gowalla": (
        3,
        2,
        "2010-10-17 00:00:00",
        {
            "kept": 5,
            "no_place": 1,
            "out_of_box": 1,
            "out_of_range": 1,
            "superseded_in_slot": 1,
            "unparsable": 1,
        },
        [(0, 0, "(3, 10)"), (1, 0, "(3, 10)"), (1, 1, "(14, 3)"), (2, 0, "(3, 10)"), (2, 1, "(8, 14)")],
    ),
    "brightkite": (
        2,
        2,
        "2010-10-16 00:00:00",
        {"kept": 3, "no_place": 1, "unparsable": 1},
        [(0, 0, "(3, 11)"), (0, 1, "(8, 13)"), (1, 0, "(3, 11)")],
    ),
    "foursquare_nyc": (
        5,
        3,
        "2012-04-03 00:00:00",
        {"duplicate": 1, "kept": 5, "out_of_box": 1, "unparsable": 1},
        # 03:59:59 UTC is a second to midnight in New York, 04:00:00 is the next day
        [(2, 0, "(10, 6)"), (2, 1, "(7, 6)"), (2, 2, "(6, 2)"), (3, 2, "(7, 7)"), (4, 2, "(15, 7)")],
    ),
    "foursquare_tky": (
        5,
        2,
        "2012-04-03 00:00:00",
        {"kept": 2},
        [(3, 1, "(4, 4)"), (4, 0, "(8, 8)")],
    ),
    "foursquare_nyc_daily": (
        2,
        3,
        "2012-04-03 00:00:00",
        {"duplicate": 1, "kept": 4, "out_of_box": 1, "superseded_in_slot": 1, "unparsable": 1},
        [(0, 0, "(10, 6)"), (0, 1, "(7, 6)"), (0, 2, "(7, 7)"), (1, 2, "(15, 7)")],
    ),
    "foursquare_global": (
        2,
        2,
        "2012-04-03 18:00:06",
        {"kept": 3, "unknown_venue": 1, "unparsable": 1},
        [(0, 0, "TR"), (0, 1, "US"), (1, 0, "AR"), (1, 1, "US")],
    ),
    "geolife": (
        2,
        2,
        "2008-10-23 00:00:00",
        # 15:59:59 GMT is a second to midnight in Beijing, 16:00:00 is the next day
        {"kept": 3, "out_of_range": 1, "superseded_in_slot": 1},
        [(0, 0, "(6, 9)"), (1, 0, "(6, 9)"), (1, 1, "(1, 2)")],
    ),
    "porto": (
        35040,
        2,
        "2013-07-01 00:00:00",
        {
            "before_window": 1,
            "duplicate": 3,
            "kept": 3,
            "missing_data": 2,
            "no_position": 1,
            "out_of_box": 1,
            "superseded_in_slot": 3,
        },
        [(0, 0, "(8, 5)"), (0, 1, "(8, 5)"), (1, 1, "(8, 6)")],
    ),
    "chicago": (
        12,
        3,
        "2019-03-09 23:45:00",
        # clocks go from 2:00 to 3:00: there is no 2:15, and 3:00 is 9 quarters after 23:45
        {"kept": 6, "out_of_range": 1, "outside": 1, "unparsable": 2},
        [(0, 0, "8"), (1, 0, "8"), (2, 0, "32"), (3, 0, "32"), (4, 0, "32")],
    ),
}


def rows(stream):
    names = [cell.name for cell in stream.facts.cells]
    return [
        (t, int(user), names[cell])
        for t in range(stream.length)
        for user, cell in zip(*stream.at(t), strict=True)
    ]


def prepared(name, folder, **changes):
    """The stream of a data set, from a folder of raw files."""
    return configured({**dataset_config(name), **changes}).prepare(folder)


@pytest.fixture
def raw(tmp_path):
    """A copy of the made rows of a data set."""

    def copied(name):
        return Path(shutil.copytree(RAW / (load_dataset(name).raw_name), tmp_path / "raw"))

    return copied


@pytest.mark.parametrize("name", EXPECTED)
def test_a_format_is_read_to_the_last_row(raw, name):
    length, users, origin, reasons, first = EXPECTED[name]
    stream = prepared(name, raw(name))
    assert (stream.length, stream.users, stream.facts.origin) == (length, users, origin)
    assert stream.facts.rows_by_reason == reasons
    assert stream.facts.rows == sum(reasons.values())
    assert rows(stream)[: len(first)] == first


def test_the_list_of_data_sets_is_up_to_date():
    made = subprocess.run(
        [sys.executable, RAW.parents[1] / "tools" / "dataset_pages.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (RAW.parents[1] / "docs" / "datasets.md").read_text() == made


def test_every_format_has_a_data_set_and_made_rows():
    covered = {dataset_config(name)["format"] for name in EXPECTED}
    assert covered | {"custom", "counts", "city", "nycflights13", "lns", "sin", "log"} == set(formats())


def shuffled(path, rng):
    """The same rows in another order; a header stays on top."""
    head = {".plt": 6, ".csv": 1}.get(path.suffix, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    body = lines[head:]
    rng.shuffle(body)
    path.write_bytes(b"".join(lines[:head] + body))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_order_of_rows_changes_no_byte(raw, name, tmp_path):
    folder, rng = raw(name), random.Random(1)
    prepared(name, folder).write(tmp_path / "one.parquet")
    for path in folder.rglob("*.*"):
        if path.is_file() and "POIs" not in path.name:
            shuffled(path, rng)
    prepared(name, folder).write(tmp_path / "two.parquet")
    for suffix in (".parquet", ".json"):
        one, two = (tmp_path / f"{word}{suffix}" for word in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def zipped(folder, target, only=None):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path != target and (only is None or only in path.name):
                archive.write(path, path.relative_to(folder))


def test_archives_and_their_unpacked_trees_are_the_same(raw, tmp_path):
    for name in ("geolife", "foursquare_nyc", "porto"):
        tree = Path(shutil.copytree(RAW / name, tmp_path / name / "tree"))
        packed = tmp_path / name / "packed"
        packed.mkdir()
        zipped(tree, packed / "any name.zip")
        assert rows(prepared(name, packed)) == rows(prepared(name, tree))


def test_a_zip_in_a_zip_and_a_gzip_are_read(raw, tmp_path):
    folder = raw("porto")
    plain = rows(prepared("porto", folder))
    zipped(folder, folder / "train.csv.zip")
    (folder / "train.csv").unlink()
    zipped(folder, folder / "porto.zip", only="train.csv.zip")
    (folder / "train.csv.zip").unlink()
    assert rows(prepared("porto", folder)) == plain
    checkins = tmp_path / "gowalla"
    checkins.mkdir()
    text = (RAW / "gowalla/loc-gowalla_totalCheckins.txt").read_bytes()
    (checkins / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(text))
    assert len(rows(prepared("gowalla", checkins))) == 5


def test_a_stray_quote_costs_its_own_line_only(raw):
    folder = raw("chicago")
    path = folder / "Taxi_Trips.csv"
    path.write_text(path.read_text().replace("t4,bbb", 't4,"bbb'))
    # of that trip one end was out of range and one kept; now neither can be read
    reasons = prepared("chicago", folder).facts.rows_by_reason
    assert reasons == {"kept": 5, "outside": 1, "unparsable": 4}


def test_a_missing_column_is_named_with_its_file(raw):
    folder = raw("porto")
    path = folder / "train.csv"
    path.write_text(path.read_text().replace("POLYLINE", "LINE"))
    with pytest.raises(ValueError, match=r"porto: .*train\.csv: column 'POLYLINE' is missing"):
        prepared("porto", folder)


def test_what_an_archiver_adds_for_itself_is_no_data(raw, tmp_path):
    folder = raw("chicago")
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._Taxi_Trips.csv").write_bytes(b"\0\5\26\7")
    (folder / "._Taxi_Trips.csv").write_bytes(b"\0\5\26\7")
    assert rows(prepared("chicago", folder)) == rows(prepared("chicago", RAW / "chicago"))


def test_two_data_sets_of_one_folder_do_not_meet(raw):
    folder = raw("foursquare_nyc")
    left = folder / ".spool-foursquare_nyc-killed"
    other = folder / ".spool-foursquare_tky-running"
    left.mkdir()
    other.mkdir()
    prepared("foursquare_nyc", folder)
    assert not left.exists()
    assert other.exists()


def test_without_raw_files_it_says_what_it_looked_for(tmp_path):
    with pytest.raises(ValueError, match=r"tdrive: no file like \[0-9\]\*\.txt in .*; fetch comes first"):
        prepared("tdrive", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"box": [1, 2, 3]}, "box=.*west, south, east, north"),
        ({"box": [117, 39.5, 116, 40.3]}, "west < east"),
        ({"grid": 0}, "grid=0: must be at least 1"),
        ({"grid": 300}, "grid=300: must be at most 256"),
        ({"slot_minutes": 2.5}, "slot_minutes=2.5"),
        ({"hold": True}, "hold=True"),
        ({"time_zone": "Asia/Peking"}, "time_zone='Asia/Peking'"),
        ({"origin": "yesterday"}, "origin='yesterday': must be floor, first, an ISO time"),
        ({"within_slot": "best"}, "within_slot='best': must be one of last, first, most"),
        ({"length": 0}, "length=0"),
        ({"source": {"page": "p", "licence": "l", "pages": 1}}, "source.pages: unknown key"),
    ],
)
def test_a_bad_key_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        configured({**dataset_config("tdrive"), **change})


SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.skipif(not SHARED.is_dir(), reason="real rows of published data sets are not on this machine")
@pytest.mark.parametrize("name", ["tdrive", "foursquare_nyc", "geolife", "gowalla"])
def test_real_rows_are_read(name, tmp_path):
    for path in SHARED.joinpath(name).iterdir():
        target = tmp_path / path.name.replace("gowalla_events.csv", "loc-gowalla_totalCheckins.txt")
        target.symlink_to(path)
    stream = prepared(name, tmp_path)
    reasons = stream.facts.rows_by_reason
    assert sum(reasons.values()) == stream.facts.rows
    assert "unparsable" not in reasons
    assert reasons["kept"] > 0


@pytest.mark.skipif(not SHARED.is_dir(), reason="real rows of published data sets are not on this machine")
def test_real_check_ins_agree_with_a_plain_count(tmp_path):
    """Foursquare's rows again with the standard library: users and cells of each six hours."""
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    archive = next(SHARED.joinpath("foursquare_nyc").glob("*.zip"))
    (tmp_path / archive.name).symlink_to(archive)
    stream = prepared("foursquare_nyc", tmp_path)
    west, south, east, north = dataset_config("foursquare_nyc")["box"]
    start = datetime(2012, 4, 3, tzinfo=ZoneInfo("America/New_York"))
    latest = {}
    with zipfile.ZipFile(archive) as opened:
        name = next(name for name in opened.namelist() if name.endswith("NYC.txt"))
        for line in opened.read(name).decode("iso-8859-1").split("\n"):
            if not line:
                continue
            user, *_, lat, lon, _, time = line.split("\t")
            when = datetime.strptime(time, "%a %b %d %H:%M:%S %z %Y")
            x, y = float(lon), float(lat)
            if west <= x <= east and south <= y <= north:
                column = min(int((x - west) / (east - west) * 16), 15)
                row = min(int((y - south) / (north - south) * 16), 15)
                slot = (when - start) // timedelta(hours=6)
                names = latest.setdefault((slot, int(user)), [])
                names.append((when, f"({column}, {row})"))
    users = {user: place for place, user in enumerate(sorted({user for _, user in latest}))}
    ours = {(t, user): cell for t, user, cell in rows(stream)}
    assert len(ours) == len(latest)
    for (slot, user), visits in latest.items():
        last = max(visits)[0]
        assert ours[slot, users[user]] in {cell for when, cell in visits if when == last}


def test_fetch_takes_what_is_there(tmp_path):
    folder = Path(shutil.copytree(RAW / "tdrive", tmp_path / "tdrive"))
    receipt = load_dataset("tdrive").fetch(folder, Permission())
    assert receipt["files"][0]["file"] == "3 files"
    assert receipt["licence"].startswith("Microsoft")


@pytest.mark.parametrize("file", ["yjmob100k-dataset2.csv", "cityA-dataset.csv", "task1_dataset.csv"])
def test_one_file_of_a_family_is_read(raw, tmp_path, file):
    folder = raw("yjmob100k")
    (folder / file).write_text("uid,d,t,x,y\n3,0,0,1,1\n9,0,1,999,999\n")
    config = dataset_config("yjmob100k_2")
    assert config["file"] == "yjmob100k-dataset2.csv"
    config = {**config, "file": file, "source": {**config["source"], "files": []}}
    stream = configured(config).prepare(folder)
    assert stream.facts.rows_by_reason == {"kept": 1, "out_of_range": 1}
    with pytest.raises(ValueError, match=r"file='mine\.csv': must be like yjmob100k-dataset"):
        configured({**config, "file": "mine.csv"})


@pytest.mark.parametrize("kind", ["api", "bigquery"])
def test_chicago_by_its_other_names(tmp_path, kind):
    first, last = {
        "api": ("2019-03-09T23:45:00.000", "2019-03-10T00:15:00.000"),
        "bigquery": ("2019-03-09 23:45:00 UTC", "2019-03-10 00:15:00 UTC"),
    }[kind]
    (tmp_path / "a.csv").write_text(
        "trip_start_timestamp,taxi_id,trip_end_timestamp,pickup_community_area,dropoff_community_area\n"
        f"{first},aaa,{last},8,32.0\n"
    )
    stream = configured(dataset_config("chicago")).prepare(tmp_path)
    assert stream.facts.origin == "2019-03-09 23:45:00"
    assert (stream.counts[0, 7], stream.counts[2, 31]) == (1, 1)


def test_the_layout_of_geolife_is_checked(tmp_path):
    (tmp_path / "020").mkdir()
    (tmp_path / "020" / "a.plt").write_text("\n" * 6 + "39.9,116.4,0,0,39744.1,2008-10-23,02:53:04\n")
    with pytest.raises(ValueError, match=r"a\.plt: must lie in a folder <user>/Trajectory"):
        configured(dataset_config("geolife")).prepare(tmp_path)
