"""Gate: files made to fill memory, sent to a running service: refused with 4xx, memory grows by less than 200 MB."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import io
import itertools
import json
import zipfile
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from running_service import Service
from sqlalchemy import select

import karat
from karat.documents.text import Document
from karat.service.campaign import Campaign
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.installation import Installation
from karat.service.sources import MOST_ROWS
from karat.service.submissions import MOST_PREDICTIONS
from karat.store import schema

MEGABYTE = 2**20
MOST_GROWTH = 200 * MEGABYTE


def memory_of(pid, which):
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines[which].split()[0]) * 1024


@pytest.fixture
def served(tmp_path):
    """Return a running service, the token of its owner, and its database."""
    url = str(tmp_path / "karat.db")
    house = Installation(url)
    path = tmp_path / "few.csv"
    pd.DataFrame({"id": range(50), "text": "t", "score": range(50)}).to_csv(path, index=False)
    engine, method = karat.open(path, score="score", id="id"), karat.Point(rank=50, labels=50)
    house.create_project("Few", engine, Campaign(), by=house.owner(), method=method)
    for title, documents in (("Items", []), ("Relations", [Document(name="one", text="Ann sings.")])):
        task = EvaluationTask(kind=title.lower())
        house.evaluations.create(title, campaign_for(task), task, by=house.owner(), documents=documents)
    _, token = house.access.make_token(house.owner().id, name="t", scopes=["read", "label", "submit", "manage"])
    service = Service(tmp_path, url).start()
    yield service, token, house
    service.stop()
    house.close()


def send(service, token, path, body, size=None):
    """Send a body, from an iterator if it is large; return status and response."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    if size is not None:
        headers["content-length"] = str(size)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent
        connection.request("POST", path, body, headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text


def bomb(head, pattern, size):
    """Return the pieces of a bomb and how long they are together."""
    chunk = pattern * max(1, MEGABYTE // len(pattern))
    n_chunks = size // len(chunk)
    return itertools.chain([head], itertools.repeat(chunk, n_chunks)), len(head) + n_chunks * len(chunk)


CROWD = b"".join(b"%d,a%07d,yes\n" % (number % 50, number) for number in range(200_000))
TEXTS = {
    "brackets": ("label-studio", b"[", b"["),
    "mappings": ("argilla", b"[", b'{"a":'),
    "one long line": ("prodigy", b'{"text": "', b"x"),
    "many small things": ("label-studio", b'[{"data": [', b"{},"),
    "quotes never closed": ("mturk", b'WorkerId,Input.id,Answer.label\n"', b"x\n"),
    "one long row": ("csv", b"id,annotator,label\n", b"x,"),
    "one long header": ("csv", b"id,", b"x,"),
    "ever new annotators": ("csv", b"id,annotator,label\n", CROWD),
}


@pytest.mark.parametrize("size", [8 * MEGABYTE, pytest.param(450 * MEGABYTE, marks=pytest.mark.long)])
def test_bombs_are_refused_within_bounded_memory(served, size):
    service, token, house = served
    send(service, token, "/api/projects/few/import?format=csv", b"id,annotator,label\n0,ann,yes\n")  # all is loaded
    before = memory_of(service.process.pid, "VmRSS")
    codes = {}
    for name, (format_, head, pattern) in TEXTS.items():
        body, total = bomb(head, pattern, size)
        address = f"/api/projects/few/import?format={format_}"
        codes[name] = send(service, token, address, body, total)[0]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answers.csv", b"\0" * size)
    codes["zip"] = send(service, token, "/api/projects/few/import?format=csv", packed.getvalue())[0]
    codes["gzip"] = send(service, token, "/api/projects/few/import?format=jsonl", gzip.compress(b" " * size))[0]
    path = service.folder / "bomb.parquet"
    duckdb.sql("SELECT 'x' AS id, repeat('y', 100000) AS annotator, 'yes' AS label FROM range(3000)").write_parquet(
        str(path)
    )
    codes["parquet"] = send(service, token, "/api/projects/few/import?format=parquet", path.read_bytes())[0]
    codes["json body"] = send(service, token, "/api/projects/few/answers", b'{"answers": [' + b"[" * 900_000)[0]
    codes["too large"] = send(service, token, "/api/projects/few/answers", b"x" * 2_000_000)[0]
    codes["upload"] = send(service, token, "/api/projects/few/import?format=csv", b"", 10**12)[0]
    assert {name: code for name, code in codes.items() if not 400 <= code < 500} == {}
    growth = memory_of(service.process.pid, "VmHWM") - before
    print(f"{len(codes)} bombs of {size / MEGABYTE:.0f} MB: memory grew by {growth / MEGABYTE:.0f} MB at most")
    assert growth < MOST_GROWTH
    with house.database.read() as connection:
        assert len(connection.execute(select(schema.votes)).all()) == 1


@pytest.mark.parametrize("n_rows", [5000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_bad_million_rows_are_all_named(served, n_rows):
    service, token, house = served
    send(service, token, "/api/projects/few/import?format=csv", b"id,annotator,label\n0,ann,yes\n")
    before = memory_of(service.process.pid, "VmRSS")
    kinds = [b"%d,bob,yes", b"%d,bob,maybe", b"nobody%d,bob,yes", b"%d,b\xff,yes", b"%d,bob"]
    rows = [kinds[number % 5 if number % 3 else 0] % (number % 50) for number in range(n_rows)]
    bad = [number + 2 for number in range(n_rows) if number % 3 and number % 5]
    body = b"id,annotator,label\n" + b"\n".join(rows) + b"\n"
    status, text = send(service, token, "/api/projects/few/import?format=csv&name=big.csv", body)
    assert status == 400
    found = json.loads(text)
    assert [defect["line"] for defect in found["defects"]] == bad
    assert found["detail"].startswith(f"{len(bad):,} defects, nothing was imported:")
    growth = memory_of(service.process.pid, "VmHWM") - before
    print(f"{n_rows:,} rows with {len(bad):,} defects: memory grew by {growth / MEGABYTE:.0f} MB at most")
    assert growth < MOST_GROWTH
    with house.database.read() as connection:
        assert len(connection.execute(select(schema.votes)).all()) == 1


PLACES = {
    "items": "/api/projects/items/submissions?system=s&file=t",
    "relations": "/api/projects/relations/submissions?system=s&file=t",
    "documents": "/api/documents?name=t",
    "uploads": "/api/uploads?name=t",
    "gold": "/api/projects/few/gold?truth=label&name=t",
}
LINES = {
    ".csv": {"one long row": (b"id,label\n", b"x,"), "one long header": (b"id,", b"x,"),
             "quotes never closed": (b'id,label\n"', b"x\n"), "ever the same row": (b"id,label\n", b"1,yes\n")},
    ".jsonl": {"brackets": (b"[", b"["), "mappings": (b"", b'{"a":'), "one long line": (b'{"id": "', b"x"),
               "one long record": (b'{"id": "a", "text": [', b"{},"), "empty records": (b"", b"{}\n")},
}  # fmt: skip
TABLES = {"ever the same row", "empty records"}
"""Dull, but tables like others; what is wrong with them is said once somebody names their columns."""
PACKED = {
    "too many rows": "SELECT 'x' AS id, 'yes' AS label, 't' AS text FROM range({most} + 1)",
    "long rows": "SELECT 'x' || range AS id, 'yes' AS label, repeat('y', 1000000) AS text FROM range(3000)",
}


def zip_of(n_files, **texts):
    """Return a zip in which every text stands so many times, under ever new names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(n_files):
            for ending, text in texts.items():
                archive.writestr(f"{number}.{ending}", text)
    return stream.getvalue()


WIDE = "a " * 499_990 + "\U0001f600"
"""A megabyte that takes four in memory, and a kilobyte in a zip."""
SMALL_ZIPS = {
    "texts with an emoji": lambda: zip_of(90, txt=WIDE),
    "ever more texts with an emoji": lambda: zip_of(399, txt=WIDE),
    "mentions": lambda: zip_of(40, txt="Ann", ann="T1\tP 0 3\tAnn\n" * 90_000),
    "one text's mentions": lambda: zip_of(1, txt="Ann", ann="T1\tP 0 3\tAnn\n" * 500_000),
    "empty files": lambda: zip_of(65_000, txt=""),
    "records": lambda: zip_of(90, jsonl=json.dumps({"id": "a", "text": WIDE}) + "\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [8 * MEGABYTE, pytest.param(450 * MEGABYTE, marks=pytest.mark.long)])
@pytest.mark.parametrize("place", PLACES)
def test_files_for_evaluations_tables_and_gold_are_refused_within_bounded_memory(served, tmp_path, place, size):
    """Bombs of every format, packed ones, and a gigabyte; each refused with 4xx and a sentence, nothing kept."""
    service, token, house = served
    address = PLACES[place]
    first = b"id,label,text\n" + b"".join(b"%d,yes,t\n" % n for n in range(20))
    send(service, token, address + ".csv", first)  # all is loaded, and one submission, upload or question is there
    kept = everything_kept(tmp_path, house)
    before = memory_of(service.process.pid, "VmRSS")
    found = {}
    for ending, bombs in LINES.items():
        for name, (head, pattern) in bombs.items():
            if place == "uploads" and name in TABLES:
                continue
            body, total = bomb(head, pattern, size)
            found[name] = send(service, token, address + ending, body, total)
        found[f"gzip {ending}"] = send(service, token, address + ending, gzip.compress(b" " * size))
    for name, query in PACKED.items():
        path = tmp_path / "bomb.parquet"
        most = MOST_ROWS if place == "uploads" else MOST_PREDICTIONS
        duckdb.sql(query.format(most=most)).write_parquet(str(path), compression="zstd")
        found[f"parquet: {name}"] = send(service, token, address + ".parquet", path.read_bytes())
        path.unlink()
    for name, (n_files, each) in {"one long text": (1, size), "many texts": (500, size // 500 + 10**6)}.items():
        with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for number in range(n_files):
                archive.writestr(f"{number}.txt", b"x" * each)
        found[f"zip: {name}"] = send(service, token, address + ".zip", (tmp_path / "bomb.zip").read_bytes())
    for name, body in SMALL_ZIPS.items() if place == "documents" else ():
        found[f"zip: {name}"] = send(service, token, address + ".zip", body())
    for ending in (".csv", ".jsonl", ".parquet"):
        found[f"a gigabyte {ending}"] = send(service, token, address + ending, b"", 10**9)
    growth = memory_of(service.process.pid, "VmHWM") - before
    print(f"{place}: {len(found)} bombs of {size / MEGABYTE:.0f} MB: memory grew by {growth / MEGABYTE:.0f} MB at most")
    assert {name: said for name, said in found.items() if not 400 <= said[0] < 500} == {}
    assert all(json.loads(text)["detail"] for _, text in found.values())
    assert everything_kept(tmp_path, house) == kept
    assert growth < MOST_GROWTH


def everything_kept(folder, house):
    """Return all files of uploads and pools, and how many rows there are that a file could have made."""
    files = sorted(str(path) for home in folder.glob("karat-*") for path in home.rglob("*") if path.is_file())
    with house.database.read() as connection:
        tables = (schema.submissions, schema.documents, schema.items, schema.projects)
        return files, [len(connection.execute(select(table.c[0])).all()) for table in tables]
