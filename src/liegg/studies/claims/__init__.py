"""The paper's claims: each statement is a named check on stored results."""

from liegg.studies.claims.evaluation import CLAIMS, evaluate, write
from liegg.studies.claims.record import Claim, Finding
from liegg.studies.claims.text import markdown, table, to_dict

__all__ = ["CLAIMS", "Claim", "Finding", "evaluate", "markdown", "table", "to_dict", "write"]
