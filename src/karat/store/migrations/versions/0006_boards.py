"""Leaderboards that anybody may see."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("evaluations", sa.Column("is_public", sa.Boolean(), nullable=False, server_default=sa.false()))
