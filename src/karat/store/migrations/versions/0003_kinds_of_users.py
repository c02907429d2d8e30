"""Users who never sign in: annotators of imported answers, judge models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("users", sa.Column("kind", sa.String(length=10), nullable=False, server_default="person"))
