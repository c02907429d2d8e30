"""The tables.

Times are seconds since 1970 (UTC) as floats, documents are JSON texts: both mean the same on SQLite and PostgreSQL.
`ledger` and `audit` are append-only, and the database itself refuses to change them (see the first migration). The
tables `votes`, `skips` and `adjudications` only say what the ledger adds up to by now. A slot is the right to give one
of an item's votes; `handouts` remembers who was ever given an item, so that an answer that comes after its lease has
passed on is told from one that nobody asked for. `items.gold` is the known answer of a gold question; one that was not
drawn has a rank below zero, and its slots (`is_gold`) are dealt to one person each and never open. What judge
models say stands in `guesses`; among the votes it stands only where `judges` says that it counts.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

ROLES = ("owner", "annotator", "viewer")
STATES = ("open", "paused", "closed")
SLOT_STATES = ("open", "leased", "answered")
EVENTS = ("answer", "skip", "undo", "adjudicate")
DEALT, RETIRED = -1, -2
"""In place of a batch's number: a gold question that is dealt, and one that is not any more because it was drawn."""
USER_KINDS = ("person", "imported", "model")
"""Who signs in; who answered elsewhere; a judge model."""
LINK_KINDS = ("sign-in", "invitation")
SUBMISSION_STATES = ("checked", "accepted", "retracted")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _key() -> Column[int]:
    # SQLite numbers rows by itself only where the key is exactly INTEGER
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)


def _ref(name: str, target: str, *, nullable: bool = False) -> Column[int]:
    kind = BigInteger().with_variant(Integer, "sqlite")
    return Column(name, kind, ForeignKey(f"{target}.id"), nullable=nullable)


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})", name=column)


users = Table(
    "users",
    metadata,
    _key(),
    Column("name", String(64), nullable=False, unique=True),
    Column("password_hash", Text),
    Column("is_admin", Boolean, nullable=False),
    Column("created_at", Float(53), nullable=False),
    Column("disabled_at", Float(53)),
    Column("own_keys", Text),
    Column("kind", String(10), nullable=False, server_default="person"),
)

sessions = Table(
    "sessions",
    metadata,
    _key(),
    _ref("user_id", "users"),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created_at", Float(53), nullable=False),
    Column("seen_at", Float(53), nullable=False),
    Column("expires_at", Float(53), nullable=False),
    Column("revoked_at", Float(53)),
    Column("client", String(200), nullable=False),
    Index(None, "user_id"),
)

tokens = Table(
    "tokens",
    metadata,
    _key(),
    _ref("user_id", "users"),
    Column("name", String(100), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("scopes", String(200), nullable=False),
    Column("created_at", Float(53), nullable=False),
    Column("used_at", Float(53)),
    Column("revoked_at", Float(53)),
    Index(None, "user_id"),
)

projects = Table(
    "projects",
    metadata,
    _key(),
    Column("slug", String(64), nullable=False, unique=True),
    Column("title", String(200), nullable=False),
    Column("state", String(10), nullable=False),
    Column("settings", Text, nullable=False),
    Column("created_at", Float(53), nullable=False),
    _one_of("state", STATES),
)

members = Table(
    "members",
    metadata,
    Column("project_id", projects.c.id.type, ForeignKey("projects.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    Column("role", String(10), nullable=False),
    Column("joined_at", Float(53), nullable=False),
    _one_of("role", ROLES),
    Index(None, "user_id"),
)

links = Table(
    "links",
    metadata,
    _key(),
    Column("kind", String(10), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    _ref("user_id", "users", nullable=True),
    _ref("project_id", "projects", nullable=True),
    Column("role", String(10)),
    Column("created_at", Float(53), nullable=False),
    Column("expires_at", Float(53), nullable=False),
    Column("used_at", Float(53)),
    _one_of("kind", LINK_KINDS),
)

failures = Table(
    "failures",
    metadata,
    _key(),
    Column("who", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
    Index(None, "who", "at"),
)

draws = Table(
    "draws",
    metadata,
    Column("project_id", projects.c.id.type, ForeignKey("projects.id"), primary_key=True),
    Column("header", Text, nullable=False),
    Column("created_at", Float(53), nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("project_id", projects.c.id.type, ForeignKey("projects.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", Text, nullable=False),
    Column("seal", String(64), nullable=False),
    Column("created_at", Float(53), nullable=False),
)

items = Table(
    "items",
    metadata,
    _key(),
    _ref("project_id", "projects"),
    Column("rank", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("score", Float(53), nullable=False),
    Column("batch", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Column("label", Integer),
    Column("gold", Integer),
    UniqueConstraint("project_id", "rank"),
    CheckConstraint("label IN (-1, 0, 1)", name="label"),
)

slots = Table(
    "slots",
    metadata,
    _key(),
    _ref("project_id", "projects"),
    _ref("item_id", "items"),
    Column("number", Integer, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("state", String(10), nullable=False),
    _ref("user_id", "users", nullable=True),
    Column("leased_until", Float(53)),
    Column("is_gold", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("item_id", "number"),
    UniqueConstraint("item_id", "user_id"),  # nobody votes twice on an item; NULLs do not count
    _one_of("state", SLOT_STATES),
    CheckConstraint("(state = 'open') = (user_id IS NULL)", name="holder"),
    Index(None, "project_id", "state", "turn"),
    Index(None, "user_id", "project_id", "state"),
)

ledger = Table(
    "ledger",
    metadata,
    _key(),
    _ref("project_id", "projects"),
    _ref("item_id", "items"),
    _ref("user_id", "users"),
    Column("kind", String(10), nullable=False),
    Column("undoes", BigInteger().with_variant(Integer, "sqlite"), ForeignKey("ledger.id"), unique=True),
    Column("value", String(64)),
    Column("note", Text),
    Column("seconds", Float(53)),
    Column("request", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
    UniqueConstraint("user_id", "request"),  # a request sent twice is recorded once
    _one_of("kind", EVENTS),
    Index(None, "project_id", "user_id", "id"),
    Index(None, "item_id"),
)

votes = Table(
    "votes",
    metadata,
    Column("item_id", items.c.id.type, ForeignKey("items.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    _ref("project_id", "projects"),
    Column("value", String(64), nullable=False),
    Column("note", Text),
    Column("ledger_id", BigInteger, ForeignKey("ledger.id"), nullable=False),
    Index(None, "project_id", "user_id"),
)

skips = Table(
    "skips",
    metadata,
    Column("item_id", items.c.id.type, ForeignKey("items.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    _ref("project_id", "projects"),
    Index(None, "project_id", "user_id"),
)

handouts = Table(
    "handouts",
    metadata,
    Column("item_id", items.c.id.type, ForeignKey("items.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    Column("at", Float(53), nullable=False),
)

adjudications = Table(
    "adjudications",
    metadata,
    Column("item_id", items.c.id.type, ForeignKey("items.id"), primary_key=True),
    _ref("user_id", "users"),
    Column("value", String(64), nullable=False),
    Column("note", Text),
    Column("ledger_id", BigInteger, ForeignKey("ledger.id"), nullable=False),
)

audit = Table(
    "audit",
    metadata,
    _key(),
    Column("at", Float(53), nullable=False),
    _ref("user_id", "users", nullable=True),
    _ref("project_id", "projects", nullable=True),
    Column("action", String(64), nullable=False),
    Column("detail", Text, nullable=False),
    Index(None, "project_id", "id"),
)

guesses = Table(
    "guesses",
    metadata,
    Column("item_id", items.c.id.type, ForeignKey("items.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    _ref("project_id", "projects"),
    Column("value", String(64), nullable=False),
    Column("note", Text),
    Column("ledger_id", BigInteger, ForeignKey("ledger.id"), nullable=False),
    Index(None, "project_id", "user_id"),
)

judges = Table(
    "judges",
    metadata,
    Column("project_id", projects.c.id.type, ForeignKey("projects.id"), primary_key=True),
    Column("user_id", users.c.id.type, ForeignKey("users.id"), primary_key=True),
    Column("counts", Boolean, nullable=False),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("project_id", projects.c.id.type, ForeignKey("projects.id"), primary_key=True),
    _ref("reading_id", "projects", nullable=True),
    Column("folder", String(100), nullable=False),
    Column("settings", Text, nullable=False),
    Column("published_at", Float(53)),
    Column("created_at", Float(53), nullable=False),
    Column("is_public", Boolean, nullable=False, server_default=false()),
    Index(None, "reading_id"),
)

submissions = Table(
    "submissions",
    metadata,
    _key(),
    _ref("project_id", "projects"),
    _ref("user_id", "users"),
    Column("system", String(100), nullable=False),
    Column("version", Integer),
    Column("state", String(10), nullable=False),
    Column("file", String(200), nullable=False),
    Column("n_predictions", Integer, nullable=False),
    Column("n_new", Integer, nullable=False),
    Column("first_labels", Integer, nullable=False),
    Column("most_labels", Integer, nullable=False),
    Column("created_at", Float(53), nullable=False),
    Column("priced_at", Integer, nullable=False, server_default="0"),
    _one_of("state", SUBMISSION_STATES),
    Index(None, "project_id", "id"),
)

documents = Table(
    "documents",
    metadata,
    _key(),
    _ref("project_id", "projects"),
    Column("name", String(200), nullable=False),
    Column("content", Text, nullable=False),
    Column("n_tokens", Integer, nullable=False),
    Column("mentions", Text, nullable=False),
    UniqueConstraint("project_id", "name"),
)

marks = Table(
    "annotations",
    metadata,
    _key(),
    _ref("item_id", "items"),
    _ref("user_id", "users"),
    Column("content", Text, nullable=False),
    Column("at", Float(53), nullable=False),
    Index(None, "item_id", "user_id", "id"),
)

APPEND_ONLY = ("ledger", "audit", "batches", "draws", "annotations")
