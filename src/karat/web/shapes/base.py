"""What every message has in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=5000)]
Request = Annotated[str, Field(min_length=1, max_length=64, description="Your own name for this request: sent twice, "
                               "it counts once.")]  # fmt: skip
ItemId = Annotated[int, Field(ge=1, le=2**53)]


class Shape(BaseModel):
    """Nothing unknown comes in, and no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Defect(BaseModel):
    """One thing that is wrong with a file."""

    line: int | None
    message: str


class Problem(BaseModel):
    """Why a request was refused, and the field that is to blame, where one is; ``fields`` has all of several."""

    detail: str
    field: str | None = None
    defects: list[Defect] = []
    fields: dict[str, str] = {}


class Cell(BaseModel):
    name: str
    value: Any


class Health(BaseModel):
    ok: bool
    version: str
