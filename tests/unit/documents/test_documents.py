"""Documents: import of every format with offsets checked, tokens and sentences of many scripts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.demo.relations import make_corpus
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
