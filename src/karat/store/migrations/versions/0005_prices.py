"""Prices of submissions that wait: when they were found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("submissions", sa.Column("priced_at", sa.Integer(), server_default="0", nullable=False))
