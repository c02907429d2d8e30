"""Documents: import of every format with offsets checked, tokens and sentences of many scripts."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.demo.relations import make_corpus
from karat.documents.read import MOST_FAULTS, read_documents
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


def zip_of(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_zip_reads_as_the_folder_in_it(tmp_path):
    files = {"news/a.txt": TEXT, "news/a.ann": "T1\tperson 0 3\tZoë\n", "news/b.txt": "Only this.",
             "news/notes.md": "no", "__MACOSX/news/._a.txt": b"\x00", "../../outside.txt": "Not taken."}  # fmt: skip
    found = read_documents(zip_of(tmp_path / "news.zip", files))
    assert [document.name for document in found] == ["a", "b"]
    assert found[0].mentions[0].type == "person"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["news.zip"]


@pytest.mark.parametrize(("files", "message"), [
    ({"a.md": "x"}, "news.zip: no .txt file in it"),
    ({"x/a.txt": "x", "y/a.txt": "x"}, "news.zip: 'a.txt' is in it twice"),
    ({"a.txt": "x", "b.ann": "T1"}, "b.ann: there is no b.txt beside it"),
    ({"a.txt": b"\xff\xfe\xff"}, "a.txt"),
    ({f"{k}.txt": b"\x00" * 50_000_000 for k in range(9)}, "at most 400,000,000 bytes once unpacked"),
])  # fmt: skip
def test_a_bad_zip_is_refused_with_its_reason(tmp_path, files, message):
    with pytest.raises(InvalidData, match=message):
        read_documents(zip_of(tmp_path / "news.zip", files))


def test_what_is_no_zip_is_refused(tmp_path):
    (tmp_path / "news.zip").write_text("no zip")
    with pytest.raises(InvalidData, match=r"news.zip cannot be unpacked: File is not a zip file\."):
        read_documents(tmp_path / "news.zip")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_every_fault_of_a_submission_is_named(tmp_path, ending):
    good = {"document": "a", "subject": "Zoë", "predicate": "p", "object": "K", "subject_mention": "Zoë",
            "subject_start": 0, "subject_end": 3, "object_mention": "met", "object_start": 6,
            "object_end": 9}  # fmt: skip
    rows = [good, {**good, "document": "b"}, {**good, "subject_end": 4}, {**good, "predicate": "q"}, good,
            {**good, "object_start": -1}]  # fmt: skip
    path = tmp_path / f"s{ending}"
    if ending == ".csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in [good, *(each.values() for each in rows)]) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidData) as caught:
        check_relations(path, texts_of=lambda _: {"a": TEXT}, predicates=["p"])
    first = 2 if ending == ".csv" else 1
    said = {defect.line - first: defect.message for defect in caught.value.defects}
    assert sorted(said) == [1, 2, 3, 4, 5]
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
