"""Gold questions, and keys of one's own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("items", sa.Column("gold", sa.Integer(), nullable=True))
    op.add_column("slots", sa.Column("is_gold", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("users", sa.Column("own_keys", sa.Text(), nullable=True))
