"""Train many perceptrons of different widths and seeds at once, as batched matrix products."""

from liegg.studies.ensemble.campaign import Work, work
from liegg.studies.ensemble.members import Member
from liegg.studies.ensemble.problems import Classification, Regression, accuracies
from liegg.studies.ensemble.stack import Stack, initialise
from liegg.studies.ensemble.step import Schedule
from liegg.studies.ensemble.training import Trained, train

__all__ = [
    "Classification",
    "Member",
    "Regression",
    "Schedule",
    "Stack",
    "Trained",
    "Work",
    "accuracies",
    "initialise",
    "train",
    "work",
]
