"""Estimators with the methods of scikit-learn."""

from typing import Any

import numpy as np
import torch

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, ModelError, one_line
from liegg.inputs.foreign.protocol import ForeignModel
from liegg.inputs.table import table_like

SCORES = ("decision_function", "predict_proba")
"""Methods of classifiers that return numbers, in the order in which they are looked for."""

LISTED_COLUMNS = 12
"""Most columns listed in a message."""


class Estimator(ForeignModel):
    """A fitted estimator: the scores of a classifier, the predictions of anything else."""

    no_batch = "It must accept one row of numbers per sample."

    def __init__(self, estimator: Any, table: Any = None):
        """An estimator that takes arrays, or tables like one if it was fitted on names of columns."""
        self.estimator, self.table = estimator, table
        classifier = hasattr(estimator, "classes_") or hasattr(estimator, SCORES[1])
        chosen = [name for name in SCORES if callable(getattr(estimator, name, None))]
        if classifier and not chosen:
            raise ArgumentError(
                f"{type(estimator).__name__} predicts classes, and has neither {SCORES[0]} nor "
                f"{SCORES[1]}. Fit it with probability estimates, and pass model.{SCORES[1]}."
            )
        self.method = chosen[0] if classifier else "predict"
        self.name, self.precision = type(estimator).__name__, torch.float64
        self.notes = (Diagnosis.ESTIMATOR_METHOD(method=self.method),)

    def evaluate(self, x: np.ndarray) -> Any:
        """Scores or predictions of a batch; one row of numbers per sample is what estimators take."""
        x = x.reshape(len(x), -1)
        if self.table is not None:
            return getattr(self.estimator, self.method)(table_like(self.table, x))
        try:
            return getattr(self.estimator, self.method)(x)
        except ValueError as error:
            if not by_columns(self.estimator):
                raise
            names = ", ".join(map(repr, list(self.estimator.feature_names_in_)[:LISTED_COLUMNS]))
            raise ModelError(
                f"{self.name} was fitted on columns by name, and failed on an array: {one_line(error)}. Pass the data as "
                f"a DataFrame with the columns {names}, in this order."
            ) from error


def by_columns(estimator: Any) -> bool:
    """Whether an estimator was fitted on a table whose columns have names."""
    return hasattr(estimator, "feature_names_in_")


def is_estimator(model: Any) -> bool:
    """Whether a model is an estimator: it can `fit` and `predict`, and is not a function itself.

    >>> is_estimator(is_estimator)
    False
    """
    methods = all(callable(getattr(model, name, None)) for name in ("fit", "predict"))
    return methods and not isinstance(model, type | torch.nn.Module)
