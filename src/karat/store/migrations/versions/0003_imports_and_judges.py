"""Users who never sign in: annotators of imported answers, and judge models with their guesses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("users", sa.Column("kind", sa.String(length=10), nullable=False, server_default="person"))
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "guesses",
        sa.Column("item_id", key, nullable=False),
        sa.Column("user_id", key, nullable=False),
        sa.Column("project_id", key, nullable=False),
        sa.Column("value", sa.String(length=64), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("ledger_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_guesses_item_id")),
        sa.ForeignKeyConstraint(["ledger_id"], ["ledger.id"], name=op.f("fk_guesses_ledger_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_guesses_project_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_guesses_user_id")),
        sa.PrimaryKeyConstraint("item_id", "user_id", name=op.f("pk_guesses")),
    )
    op.create_index(op.f("ix_guesses_project_id_user_id"), "guesses", ["project_id", "user_id"], unique=False)
    op.create_table(
        "judges",
        sa.Column("project_id", key, nullable=False),
        sa.Column("user_id", key, nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_judges_project_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judges_user_id")),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f("pk_judges")),
    )
