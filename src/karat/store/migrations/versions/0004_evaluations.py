"""Evaluations: tasks, submissions, documents, annotations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "evaluations",
        sa.Column("project_id", _number(), nullable=False),
        sa.Column("reading_id", _number(), nullable=True),
        sa.Column("folder", sa.String(length=100), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("published_at", sa.Float(precision=53), nullable=True),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_evaluations_project_id")),
        sa.ForeignKeyConstraint(["reading_id"], ["projects.id"], name=op.f("fk_evaluations_reading_id")),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_evaluations")),
    )
    op.create_index(op.f("ix_evaluations_reading_id"), "evaluations", ["reading_id"], unique=False)
    op.create_table(
        "submissions",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("project_id", _number(), nullable=False),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("system", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=False),
        sa.Column("n_predictions", sa.Integer(), nullable=False),
        sa.Column("n_new", sa.Integer(), nullable=False),
        sa.Column("first_labels", sa.Integer(), nullable=False),
        sa.Column("most_labels", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.CheckConstraint("state IN ('checked', 'accepted', 'retracted')", name=op.f("ck_submissions_state")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_submissions_project_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_submissions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
    )
    op.create_index(op.f("ix_submissions_project_id_id"), "submissions", ["project_id", "id"], unique=False)
    op.create_table(
        "documents",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("project_id", _number(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("n_tokens", sa.Integer(), nullable=False),
        sa.Column("mentions", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_documents_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_documents_project_id_name")),
    )
    op.create_table(
        "annotations",
        sa.Column("id", _number(), autoincrement=True, nullable=False),
        sa.Column("item_id", _number(), nullable=False),
        sa.Column("user_id", _number(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_annotations_item_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_annotations_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotations")),
    )
    op.create_index(op.f("ix_annotations_item_id_user_id_id"), "annotations", ["item_id", "user_id", "id"],
                    unique=False)  # fmt: skip
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER annotations_refuses_{verb.lower()} BEFORE {verb} ON annotations "
                "BEGIN SELECT RAISE(ABORT, 'annotations is append-only'); END"
            )
        return
    op.execute(
        "CREATE TRIGGER annotations_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON annotations "
        "FOR EACH STATEMENT EXECUTE FUNCTION karat_append_only()"
    )
