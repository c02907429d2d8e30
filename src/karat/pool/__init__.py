"""Many systems, one pool of labels, kept in a folder."""

from karat.pool.leaderboard import Difference, Leaderboard, Row, Score
from karat.pool.pool import Pool

__all__ = ["Difference", "Leaderboard", "Pool", "Row", "Score"]
