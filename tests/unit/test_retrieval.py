"""Fetching, against a server on this machine: mirrors, hashes, terms, torn and false archives."""

import gzip
import hashlib
import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.ingest import retrieval
from mtsp_ldp.datasets.source import Permission, SourceError
from mtsp_ldp.experiments.config import dataset_config

ALLOWED = Permission(download=True, terms=frozenset({"tdrive"}))
LINE = b"7,2008-02-02 13:30:05,116.41000,39.91000\r\n"


def archive(**members):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in members.items():
            opened.writestr(name.replace("__", "."), text)
    return held.getvalue()


GOOD = archive(**{"7__txt": LINE * 50})


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers["User-Agent"]))
        answers = self.server.files.get(self.path, [])
        body = answers.pop(0) if len(answers) > 1 else (answers[0] if answers else None)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        cut = body[0] if isinstance(body, tuple) else len(body)
        body = body[1] if isinstance(body, tuple) else body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(retrieval, "RETRIES", 1)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.delenv(retrieval.ELSEWHERE, raising=False)
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.files, running.asked = {}, []
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def dataset(server, *paths, **file):
    port = server.server_address[1]
    config = dataset_config("tdrive")
    entry = {"name": "06.zip", "urls": [f"http://127.0.0.1:{port}/{path}" for path in paths], **file}
    return configured({**config, "source": {**config["source"], "files": [entry]}})


def sha(body):
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "raw" / "tdrive"


def left(folder):
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def test_the_first_mirror_that_works_is_taken_with_a_receipt(server, folder):
    server.files = {"/second": [GOOD]}
    receipt = dataset(server, "first", "second", hash=sha(GOOD)).fetch(folder, ALLOWED)
    assert left(folder) == ["06.zip"]
    (entry,) = receipt["files"]
    assert entry["url"].endswith("/second")
    assert entry["bytes"] == len(GOOD)
    assert entry["sha256"] == hashlib.sha256(GOOD).hexdigest()
    assert entry["date"]
    assert {agent for _, agent in server.asked} == {"Mozilla/5.0"}


def test_a_broken_download_is_tried_again(server, folder):
    server.files = {"/a": [(100, GOOD), GOOD]}
    dataset(server, "a").fetch(folder, ALLOWED)
    assert [path for path, _ in server.asked] == ["/a", "/a"]
    assert (folder / "06.zip").read_bytes() == GOOD


@pytest.mark.parametrize(
    ("body", "file", "message"),
    [
        ((100, GOOD), {}, "no address gave it"),  # the connection breaks, each time
        (GOOD[:-30], {}, r"06\.zip: not a whole \.zip archive"),
        (GOOD[:60] + b"\0" * 20 + GOOD[80:], {}, r"torn|not a whole"),
        (GOOD, {"hash": sha(b"other")}, "hash"),
        (GOOD, {"hash": "md5:0"}, "hash"),
        (GOOD, {"bytes": 5}, "5 are published"),
        (b"<!DOCTYPE html><html>please log in</html>", {}, "a web page, not the file"),
        (archive(**{"../7__txt": LINE}), {}, r"'\.\./7\.txt' would leave the folder"),
        (archive(**{"/etc/7__txt": LINE}), {}, "would leave the folder"),
    ],
)
def test_what_is_not_the_published_file_is_refused_and_nothing_stays(server, folder, body, file, message):
    server.files = {"/a": [body]}
    with pytest.raises(SourceError, match=message) as refused:
        dataset(server, "a", **file).fetch(folder, ALLOWED)
    assert "\n" not in str(refused.value)
    assert left(folder) == []


def test_an_unpublished_hash_is_remembered_and_holds(server, folder):
    server.files = {"/a": [GOOD]}
    dataset(server, "a").fetch(folder, ALLOWED)
    book = folder.parent / "checksums.json"
    assert json.loads(book.read_text()) == {"tdrive/06.zip": hashlib.sha256(GOOD).hexdigest()}
    (folder / "06.zip").unlink()
    server.files = {"/a": [archive(**{"7__txt": LINE * 51})]}
    with pytest.raises(SourceError, match=r"at first it was .*checksums\.json"):
        dataset(server, "a").fetch(folder, ALLOWED)
    assert left(folder) == []


def test_a_torn_gzip_is_refused(server, folder):
    body = gzip.compress(LINE * 1000)
    server.files = {"/a": [body[:-20]]}
    with pytest.raises(SourceError, match=r"not a whole \.gz archive"):
        dataset(server, "a", name="7.txt.gz").fetch(folder, ALLOWED)
    assert left(folder) == []


def test_no_network_without_permission_and_no_download_without_terms(server, folder):
    one = dataset(server, "a")
    message = (
        r"tdrive: 06\.zip missing: put them, .*\[0-9\]\*\.txt.* into .*tdrive or \$MTSP_LDP_DATA/tdrive; .*"
    )
    with pytest.raises(SourceError, match=message + r".*allow_download=true accept_terms=\[tdrive\]"):
        one.fetch(folder, Permission())
    with pytest.raises(SourceError, match=r"terms are research use only.*accept_terms=\[tdrive\]"):
        one.fetch(folder, Permission(download=True))
    with pytest.raises(SourceError, match="terms are"):
        one.require(folder, Permission(download=True, terms=frozenset({"geolife"})))
    assert server.asked == []


def test_what_no_program_may_download_is_asked_for(tmp_path):
    with pytest.raises(SourceError, match=r"foursquare_global: dataset_tist2015\.zip missing.*by hand"):
        configured(dataset_config("foursquare_global")).fetch(tmp_path / "x", Permission(download=True))


def test_files_on_this_machine_come_before_the_network(server, folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "tdrive").mkdir(parents=True)
    (elsewhere / "tdrive" / "06.zip").write_bytes(GOOD)
    monkeypatch.setenv(retrieval.ELSEWHERE, str(elsewhere))
    one = dataset(server, "a", hash=sha(GOOD))
    one.require(folder, Permission())
    receipt = one.fetch(folder, Permission())
    assert server.asked == []
    assert receipt["files"][0]["sha256"] == hashlib.sha256(GOOD).hexdigest()
    assert "url" not in receipt["files"][0]
    assert one.prepare(folder).users == 1


def test_a_wrong_local_file_is_refused_but_not_touched(server, folder):
    folder.mkdir(parents=True)
    (folder / "06.zip").write_bytes(GOOD)
    with pytest.raises(SourceError, match=r"06\.zip: its sha256 is .* is published"):
        dataset(server, "a", hash=sha(b"other")).fetch(folder, Permission())
    assert left(folder) == ["06.zip"]


def test_a_part_of_several_files_is_missing_by_name(server, folder):
    config = dataset_config("tdrive")
    folder.mkdir(parents=True)
    (folder / "06.zip").write_bytes(GOOD)
    with pytest.raises(SourceError, match=r"tdrive: 07\.zip, 08\.zip.* missing"):
        configured(config).fetch(folder, Permission())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"allow_download": "yes"}, "allow_download='yes': must be true or false"),
        ({"accept_terms": 3}, "accept_terms=3: must be a list of names"),
        ({"accept_terms": ["a;b"]}, "accept_terms"),
    ],
)
def test_bad_permissions_are_refused(config, message):
    with pytest.raises(ValueError, match=message):
        Permission.of(config)


def test_permissions_reach_the_jobs_in_the_plan():
    assert Permission().as_config() == {"allow_download": False, "accept_terms": []}
    allowed = Permission.of({"allow_download": True, "accept_terms": ["tdrive", "geolife"]})
    assert allowed.as_config() == {"allow_download": True, "accept_terms": ["geolife", "tdrive"]}
    assert Permission.of(allowed.as_config()) == allowed
