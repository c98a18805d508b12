"""Estimators with the methods of scikit-learn."""

from typing import Any

import numpy as np
import torch

from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.inputs.foreign.protocol import ForeignModel

SCORES = ("decision_function", "predict_proba")
"""Methods of classifiers that return numbers, in the order in which they are looked for."""


class Estimator(ForeignModel):
    """A fitted estimator: the scores of a classifier, the predictions of anything else."""

    def __init__(self, estimator: Any):
        self.estimator = estimator
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
        return getattr(self.estimator, self.method)(x.reshape(len(x), -1))


def is_estimator(model: Any) -> bool:
    """Whether a model is an estimator: it can `fit` and `predict`, and is not a function itself.

    >>> is_estimator(is_estimator)
    False
    """
    methods = all(callable(getattr(model, name, None)) for name in ("fit", "predict"))
    return methods and not isinstance(model, type | torch.nn.Module)
