"""The paper's claims: each statement is a named check on stored results."""

from liegg.studies.claims.evaluation import CLAIMS, evaluate, write
from liegg.studies.claims.record import markdown, table

__all__ = ["CLAIMS", "evaluate", "markdown", "table", "write"]
