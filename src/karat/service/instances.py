"""A relation instance as people see it: in the part of its document around the sentence that states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.documents import relations
from karat.documents.text import sentence_around

if TYPE_CHECKING:
    from karat.service.evaluation_task import EvaluationTask

CONTEXT = 1500
"""Characters of the document that are shown on either side of the sentence."""


def in_context(
    said: dict[str, Any], texts: dict[str, str], sentences: dict[str, list[tuple[int, int]]], task: EvaluationTask
) -> dict[str, Any]:
    """Return an instance with the part of its document around it; offsets count from there."""
    name = said["document"]
    text = texts[name]
    low = min(said["subject_start"], said["object_start"])
    high = max(said["subject_end"], said["object_end"])
    first, last = sentence_around(sentences[name], low, high)
    begin, end = max(0, first - CONTEXT), min(len(text), last + CONTEXT)
    ends = {
        side: {"name": said[side], "link": said.get(f"{side}_link"), "start": said[f"{side}_start"] - begin,
               "end": said[f"{side}_end"] - begin}
        for side in relations.ENDS
    }  # fmt: skip
    return {
        "subject": ends["subject"],
        "predicate": task.in_words(said["predicate"]),
        "object": ends["object"],
        "document": name,
        "text": text[begin:end],
        "sentence": [first - begin, last - begin],
        "cut": [begin > 0, end < len(text)],
    }
