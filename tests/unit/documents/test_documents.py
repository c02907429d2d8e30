"""Documents: import of every format with offsets checked, tokens and sentences of many scripts."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.demo.relations import make_corpus
from karat.documents.mentions import MOST_FAULTS
from karat.documents.read import read_documents
from karat.documents.relations import check_relations
from karat.documents.text import fault_of_span, sentence_around, sentences_of, tokens_of
from karat.errors import InvalidData

TEXT = "Zoë 😀 met محمد علي in Kraków. They left."


def test_every_format_gives_the_same_document(tmp_path):
    start = TEXT.index("Kraków")
    mention = {"start": start, "end": start + 6, "type": "place", "text": "Kraków"}
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "news.txt").write_text(TEXT, encoding="utf-8")
    (folder / "news.ann").write_text(
        f"T1\tplace {start} {start + 6}\tKraków\nR1\tlives Arg1:T1 Arg2:T1\n", encoding="utf-8"
    )
    (tmp_path / "plain.jsonl").write_text(json.dumps({"id": "news", "text": TEXT, "mentions": [mention]}))
    units = len(TEXT[:start].encode("utf-16-le")) // 2  # as a browser counts: the emoji is two
    assert units == start + 1
    result = {"type": "labels", "value": {"start": units, "end": units + 6, "text": "Kraków", "labels": ["place"]}}
    task = {"id": 7, "data": {"id": "news", "text": TEXT}, "annotations": [{"result": [result, {"type": "choices"}]}]}
    (tmp_path / "studio.json").write_text(json.dumps([task]))
    found = [read_documents(path) for path in (folder, tmp_path / "plain.jsonl", tmp_path / "studio.json")]
    assert found[0] == found[1] == found[2]
    ((document,),) = found[:1]
    assert document.text[document.mentions[0].start : document.mentions[0].end] == "Kraków"


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.jsonl", '{"id": "a", "text": "Zoë x", "mentions": [{"start": 5, "end": 6, "type": "t", "text": "x"}]}',
     "a.jsonl, line 1, mention 1: characters 5 to 6 are not in the document, which has 5; .* count bytes"),
    ("a.jsonl", '{"id": "a", "text": "ab"}\n{"id": "a", "text": "ab"}', "document 'a' appears twice"),
    ("a.jsonl", '{"id": "a", "text": " "}', "a.jsonl, line 1: document 'a' is empty"),
    ("a.jsonl", '{"id": "a"}', "a.jsonl, line 1: 'text' must be text"),
    ("a.jsonl", '{"id": "a", "text": "a\\ud800b"}', "has no character at 1"),
    ("a.jsonl", '{"id": "a", "text": "x", "mentions": [{"start": 0}]}', "a mention needs 'start' and 'end'"),
    ("a.jsonl", "", "it has no documents"),
    ("a.pdf", "x", "unknown ending"),
])  # fmt: skip
def test_defects_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InvalidData, match=message):
        read_documents(tmp_path / name)


def test_every_fault_is_named_up_to_a_limit(tmp_path):
    folder = tmp_path / "brat"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    (folder / "a.ann").write_text("T1\tplace 0 2\tZoë\nT2\tperson 0 3\tZoë\nT3\tplace 9\tx\n", encoding="utf-8")
    (folder / "c.txt").write_text(" ")
    with pytest.raises(InvalidData) as caught:
        read_documents(folder)
    assert [(defect.line, defect.message.partition(":")[0]) for defect in caught.value.defects] == [
        (1, "a.ann, line 1"), (3, "a.ann, line 3"), (None, "c.txt"),
    ]  # fmt: skip
    lines = ['{"id": "a", "text": "ab"}', "no JSON", '{"id": "b"}',
             '{"id": "c", "text": "xy", "mentions": [{"start": 0}, {"start": 0, "end": 9, "type": "t", "text": "x"}]}',
             '{"id": "a", "text": "again"}']  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(InvalidData, match="5 defects, nothing was taken") as caught:
        read_documents(tmp_path / "a.jsonl")
    assert [defect.line for defect in caught.value.defects] == [2, 3, 4, 4, 5]
    (tmp_path / "a.jsonl").write_text('{"id": "b"}\n' * 5000)
    with pytest.raises(InvalidData) as caught:
        read_documents(tmp_path / "a.jsonl")
    assert len(caught.value.defects) == MOST_FAULTS + 1


def test_one_record_names_no_more_faults_than_the_limit(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": "ab", "mentions": [{"start": 5}] * 5000}) + "\n")
    with pytest.raises(InvalidData, match="and 991 more") as caught:
        read_documents(tmp_path / "a.jsonl")
    assert len(caught.value.defects) == MOST_FAULTS + 1
    assert list(caught.value.defects)[-1].message == "a.jsonl: the rest was not read, after 1,000 faults."


@pytest.mark.parametrize(("task", "message"), [
    ({"data": [], "id": 1}, "'data' must be an object"),
    ({"data": {"text": "x"}}, "'id' must be text or a whole number; got None"),
    ({"data": {"text": "x"}, "id": 1, "annotations": {"result": []}}, "'annotations' must be a list of objects"),
    ({"data": {"text": "x"}, "id": 1, "annotations": [{"result": ["x"]}]}, "'result' must be a list of objects"),
    ({"data": {"text": "x"}, "id": 1, "annotations": [{"result": [
        {"type": "labels", "value": {"start": 0, "end": 1, "text": "x", "labels": {"a": 1}}}]}]}, "result 1: a ment"),
    ({"id": 1, "text": "x", "mentions": [{"start": 0, "end": 10**4000, "type": "t", "text": "x"}]}, "mention 1"),
])  # fmt: skip
def test_a_record_of_any_shape_is_refused_by_line(tmp_path, task, message):
    (tmp_path / "a.jsonl").write_text(json.dumps(task))
    with pytest.raises(InvalidData, match=f"a.jsonl, line 1.*{message}"):
        read_documents(tmp_path / "a.jsonl")


def zip_of(path, files, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_zip_reads_as_the_folder_in_it(tmp_path):
    line = json.dumps({"id": "c", "text": "Of JSON."}) + "\n"
    files = {"news/a.txt": TEXT, "news/a.ann": "T1\tperson 0 3\tZoë\n", "news/B.TXT": "Only this.",
             "news/deep/more.jsonl": line, "news/._a.txt": b"\x00", "news/.DS_Store": b"\x00",
             "news/annotation.conf": b"[entities]"}  # fmt: skip
    for name, content in files.items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    packed = zip_of(tmp_path / "news.zip", {**files, "__MACOSX/news/a.txt": "x", "../../outside.txt": "Taken."})
    found = {document.name: document for document in read_documents(packed)}
    assert sorted(found) == ["B", "a", "c", "outside"]
    assert found["a"].mentions[0].type == "person"
    assert {each.name: each for each in read_documents(tmp_path / "folder")} == {
        name: found[name] for name in ("B", "a", "c")
    }
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "news.zip"]


@pytest.mark.parametrize(("files", "message"), [
    ({}, "news.zip: it has no documents"),
    ({"x/a.md": "x", "a.txt": "x"}, "x/a.md: unknown ending; in a folder or a zip may be .txt, .ann, .jsonl"),
    ({"more.zip": "x", "a.txt": "x"}, "more.zip: unknown ending"),
    ({"x/a.txt": "x", "y/a.txt": "x"}, "y/a.txt: document 'a' appears twice; first in x/a.txt"),
    ({"a.txt": "x", "b.jsonl": '{"id": "a", "text": "y"}'}, "b.jsonl, line 1: document 'a' appears twice; first in a"),
    ({"a.txt": "x", "b.ann": "T1"}, "b.ann: there is no b.txt beside it"),
    ({"a.txt": "x", "y/a.ann": "T1"}, "y/a.ann: there is no a.txt beside it"),
    ({"a.txt": "x", "a.ann": "", "a.ANN": ""}, "a.ann: the spans of a.txt are there twice"),
    ({"a.txt": b"\xff\xfe\xff"}, "a.txt"),
    (dict.fromkeys(("a.txt", "b.txt", "c.txt"), bytes(50_000_000)),
     "at most 100,000,000 bytes once unpacked; it has 150,000,000"),
    ({"a.txt": "Ann", "x/a.ann": "", "b.ann": "", "b.md": ""}, "3 defects, nothing was taken"),
    ({"a.txt": "Ann", "a.ann": "T1\tPER \u00b2 3\tAnn"}, "a.ann, line 1: expected 'T1"),
    ({"a.txt": "Ann", "a.ann": f"T1\tPER 0 {'9' * 5000}\tAnn"}, "a.ann, line 1: expected 'T1"),
    ({"a.txt": "Ann", "a.ann": "T1\tPER 0 x 3\tAnn"}, "a.ann, line 1: expected 'T1"),
    ({"a.txt": "Ann", "a.ann": "T1\tPER 0 3\tAnn\n" * 100_001}, "a.ann: expected at most 100,000 mentions"),
    ({f"{'x' * 100}{k}.txt": "" for k in range(40_000)}, "at most 5,000,000 bytes that name its files; it has"),
])  # fmt: skip
def test_a_bad_zip_is_refused_with_its_reason(tmp_path, files, message):
    with pytest.raises(InvalidData, match=message):
        read_documents(zip_of(tmp_path / "news.zip", files))


def test_a_zip_that_is_broken_or_packed_otherwise_is_refused_by_name(tmp_path):
    path, files = tmp_path / "news.zip", {"aé.txt": "Ann " * 5000}

    def refused(data):
        path.write_bytes(data)
        with pytest.raises(InvalidData) as caught:
            read_documents(path)
        return str(caught.value)

    for packing in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        said = refused(zip_of(path, files, packing).read_bytes())
        assert said == f"news.zip: aé.txt must be stored or packed by deflate; got method {packing}."
    whole = zip_of(path, files).read_bytes()
    flipped = bytes(byte ^ 0xFF if 40 <= place < 60 else byte for place, byte in enumerate(whole))
    assert refused(flipped).startswith("aé.txt cannot be read: Error -3 while decompressing")
    assert "the name 'a\\xff\\xfe.txt' in it is not UTF-8" in refused(whole.replace("é".encode(), b"\xff\xfe"))
    locked = bytearray(whole)
    locked[6] |= 1
    locked[whole.index(b"PK\x01\x02") + 8] |= 1
    assert refused(bytes(locked)) == "news.zip: aé.txt must be readable without a password."
    assert "cannot be unpacked" in refused(whole[:-30])


def test_documents_take_no_more_memory_than_they_may(tmp_path):
    """A text with an emoji takes four bytes a character, and a mention some 200, however small the zip."""
    plain = zip_of(tmp_path / "plain.zip", {f"{k}.txt": "x" * 10_000 for k in range(9)})
    assert len(read_documents(plain, most_held=100_000)) == 9
    wide = zip_of(tmp_path / "wide.zip", {f"{k}.txt": "x" * 10_000 + "😀" for k in range(9)})
    with pytest.raises(
        InvalidData, match=r"wide.zip: documents may take 100,000 bytes of memory together .*; 2.txt is"
    ):
        read_documents(wide, most_held=100_000)
    marked = zip_of(tmp_path / "marked.zip", {"a.txt": "Ann", "a.ann": "T1\tPER 0 3\tAnn\n" * 600})
    with pytest.raises(InvalidData, match=r"a.txt is beyond"):
        read_documents(marked, most_held=100_000)
    assert len(read_documents(wide)) == 9


def test_what_is_no_zip_is_refused(tmp_path):
    (tmp_path / "news.zip").write_text("no zip")
    with pytest.raises(InvalidData, match=r"news.zip cannot be unpacked: File is not a zip file\."):
        read_documents(tmp_path / "news.zip")


@pytest.mark.parametrize(("raw", "said"), [
    ("Zoë\r\nnaïve".encode("latin-1"), ("a.txt, line 1: expected UTF-8 text; got the byte 0xeb after 'Zo'. If it is "
     "Latin-1, `iconv -f latin1 -t utf-8` mends it.")),
    ("Zoë\nna".encode() + b"\xefve", "a.txt, line 2: expected UTF-8 text; got the byte 0xef after 'na'. If it"),
    ("Zoë".encode("utf-16"), "a.txt, line 1: expected UTF-8 text; got the byte 0xff. If it is UTF-16, `iconv"),
])  # fmt: skip
def test_a_text_in_another_encoding_is_named_with_what_mends_it(tmp_path, raw, said):
    (tmp_path / "a.txt").write_bytes(raw)
    with pytest.raises(InvalidData) as caught:
        read_documents(tmp_path / "a.txt")
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_every_fault_of_a_submission_is_named(tmp_path, ending):
    good = {"document": "a", "subject": "Zoë", "predicate": "p", "object": "K", "subject_mention": "Zoë",
            "subject_start": 0, "subject_end": 3, "object_mention": "met", "object_start": 6,
            "object_end": 9}  # fmt: skip
    rows = [good, {**good, "document": "b"}, {**good, "subject_end": 4}, {**good, "object_start": -1}, good,
            {**good, "predicate": "q"}]  # fmt: skip
    path = tmp_path / f"s{ending}"
    if ending == ".csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in [good, *(each.values() for each in rows)]) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidData) as caught:
        check_relations(path, texts_of=lambda _: {"a": TEXT}, predicates=["p"])
    first = 2 if ending == ".csv" else 1
    said = {defect.line - first: defect.message for defect in caught.value.defects}
    assert list(said) == [1, 2, 3, 4, 5]  # in the order of lines, whatever was looked at first
    messages = list(said.values())
    assert [str(caught.value).index(message) for message in messages] == sorted(map(str(caught.value).index, messages))
    assert "no document 'b'" in said[1]
    assert "stands already in line" in said[4]
    assert said[2].startswith(f"s{ending}, line {first + 2}: subject characters 0 to 4")


@pytest.mark.parametrize("line", ["T1\tplace 0\tZoë", "T1\tplace 0 1;2 3\tZoë", "T1\tplace 0 2\tZoë"])
def test_brat_s_defects_are_named_by_line(tmp_path, line):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "a.ann").write_text(f"#1\tnote\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidData, match=r"a.ann, line 2: "):
        read_documents(tmp_path / "a.txt")


@given(st.text(max_size=200))
def test_tokens_cover_all_that_is_no_blank_and_sentences_all_tokens(text):
    tokens = tokens_of(text)
    assert tokens == sorted(tokens)
    covered = "".join(text[start:end] for start, end in tokens)
    assert covered == "".join(letter for letter in text if not letter.isspace() or letter in covered)[: len(covered)]
    assert all(letter.isspace() for k, letter in enumerate(text) if not any(low <= k < high for low, high in tokens))
    sentences = sentences_of(text)
    assert sentences == sorted(sentences)
    for low, high in tokens:
        assert any(start <= low and high <= end for start, end in sentences) or any(
            start < high and low < end for start, end in sentences
        )


@given(st.text(min_size=1, max_size=60), st.data())
def test_a_right_span_has_no_fault_and_byte_offsets_are_told(text, data):
    text = text.encode("utf-8", "ignore").decode()
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    mention = text[start:end]
    assert fault_of_span(text, start, end, mention) is None
    low, high = len(text[:start].encode()), len(text[:end].encode())
    if text[low:high] != mention:
        assert "bytes" in fault_of_span(text, low, high, mention)


def test_combining_marks_and_scripts_without_blanks():
    assert [TEXT[a:b] for a, b in tokens_of(TEXT)][:5] == ["Zoë", "😀", "met", "محمد", "علي"]
    hindi = "कि ताब"
    assert [hindi[a:b] for a, b in tokens_of(hindi)] == ["कि", "ताब"]
    assert len(sentences_of("一。二！三")) == 3
    assert sentence_around([(0, 10), (11, 20)], 5, 15) == (0, 20)


def test_csv_tsv_and_json_lines_read_the_same(tmp_path):
    import pandas as pd

    corpus = make_corpus(5, seed=3)
    texts = {document.name: document.text for document in corpus.documents}
    table = pd.DataFrame(corpus.candidates)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    table.to_json(tmp_path / "a.jsonl", orient="records", lines=True, force_ascii=False)
    read = [check_relations(tmp_path / f"a.{ending}", texts_of=lambda _: texts) for ending in ("csv", "tsv", "jsonl")]
    assert read[0] == read[1] == read[2]
    assert len(read[0]) == len(corpus.candidates)
    assert {row["id"] for row in read[0]} == set(corpus.truth)
