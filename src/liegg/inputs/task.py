"""The task of a model with several outputs: are they scores of classes, or values of their own?"""

from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.data import DataLoader

from liegg._utils.diagnoses import Diagnosis, Remark
from liegg.inputs.every_element import is_map_style
from liegg.inputs.model import Model
from liegg.inputs.output_field import is_logits
from liegg.inputs.target import Target, is_normalised

Task = Literal["auto", "classes", "values", "undecided"]
"""What several outputs are; `"auto"` finds out, `"undecided"` means that nothing told."""

TASKS = ("classes", "values")
"""Targets that name a task, and ask about all outputs."""

SIGNALS = ("grid", "colour")
"""Stages of actions on images, volumes, sequences and colours."""

SUM_VARIANCE, SURE_SUM_VARIANCE = 0.2, 0.02
"""Variance of the sum of the outputs, relative to an average combination of them, below which they are logits: for many outputs of
images and other signals, most models of which are classifiers, and for anything else. Long training by gradient descent leaves
3e-6 to 0.13, but Adam scales every weight on its own, and small networks of it had 0.7. Regressions had 0.6 to 5; one with few
independent outputs can have any value by chance. So a larger value tells nothing."""

MANY_OUTPUTS = 8
"""Outputs from which on a sum does not vary little by chance: of 300 networks with random weights and 2, 3 or 4 outputs, a tenth were
below the larger of these thresholds, of those with 10 outputs none."""

CONSTANT_COMBINATION = 1e-9
"""The same below which a combination of the outputs is constant."""

FEWEST_OUTPUTS = 8
"""Samples below which outputs show nothing."""

LABELLED_SAMPLES = 4
"""Samples whose labels are looked at."""


def split_task(target: Target) -> tuple[Task, Target]:
    """The task that a target names, and the part of the output that it asks about.

    >>> split_task("values"), split_task(3)
    (('values', None), ('auto', 3))
    """
    if isinstance(target, str) and target in TASKS:
        return target, None
    return "auto", target


class Reading(NamedTuple):
    """How several outputs are read.

    Attributes:
        classes: whether the largest of them is a prediction.
        note: how that was found out; None if it was given, or is plain.
        undecided: whether nothing told, so that they are read as values.
    """

    classes: bool
    note: Remark | None = None
    undecided: bool = False

    @property
    def task(self) -> Task:
        """The word that gives the same reading."""
        if self.undecided:
            return "undecided"
        return "classes" if self.classes else "values"


def read_outputs(
    model: Model,
    complete: Float[Tensor, "n k"],
    *,
    task: Task = "auto",
    labels: Literal["classes", "values"] | None = None,
    signals: bool = False,
) -> Reading:
    r"""Decide whether the largest of several outputs is a prediction.

    Cross-entropy does not depend on the sum of the logits, so that training leaves it nearly constant. Outputs whose
    sum hardly varies, while most other combinations do and none is constant, are read as logits. Without any evidence the
    reading is undecided, and they are values: "the prediction changes" would be wrong for a regression, while "the
    output changes" is right for every model.

    Args:
        model: the probed model.
        complete: outputs of some samples.
        task: what the user says.
        labels: what the labels in the data are, see `labels_in`.
        signals: whether samples are images or other signals, which are usually classified.

    Examples:
        >>> x = torch.linspace(-1, 1, 50, dtype=torch.float64)[:, None]
        >>> model = Model(lambda x: x, "model", output_shape=(2,))
        >>> (
        ...     read_outputs(model, torch.cat([x, -x], 1)).task,
        ...     read_outputs(model, torch.cat([x, x**2], 1)).task,
        ... )
        ('classes', 'undecided')
    """
    count = complete.shape[1]
    if count < 2:
        note = Diagnosis.ONE_OUTPUT_IS_A_VALUE() if task == "classes" else None
        return Reading(classes=False, note=note)
    if task != "auto":
        return Reading(task == "classes", undecided=task == "undecided")
    if model.target is not None or is_logits(model.output_field):
        return Reading(classes=True)
    if len(model.output_shape) > 1:
        return Reading(classes=False)
    # Probabilities, or their logarithms.
    if any(
        is_normalised(y, model.arithmetic or complete.dtype) for y in (complete, complete.exp())
    ):
        return Reading(classes=True)
    if labels is not None:
        return Reading(labels == "classes")
    threshold = SUM_VARIANCE if signals and count >= MANY_OUTPUTS else SURE_SUM_VARIANCE
    if _are_logits(complete, threshold):
        return Reading(True, Diagnosis.OUTPUTS_READ_AS_CLASSES(outputs=count))
    return Reading(False, Diagnosis.OUTPUTS_UNDECIDED(outputs=count), undecided=True)


def _are_logits(y: Float[Tensor, "n k"], threshold: float) -> bool:
    """Whether the sum of the outputs hardly varies, less than most other combinations, none of which is constant."""
    n, count = y.shape
    if n < FEWEST_OUTPUTS or not bool(y.isfinite().all()):
        return False
    y = y.double() - y.double().mean(0)
    average = float(y.square().sum() / count)
    along_sum = float(y.sum(1).square().sum() / count)
    if not 0 <= along_sum < threshold * average:
        return False
    if n <= count or count == 2:
        return True
    constant = torch.linalg.svdvals(y.cpu()).square() <= CONSTANT_COMBINATION * average
    others = torch.linalg.svdvals((y - y.mean(1, keepdim=True)).cpu())[: count - 1].square()
    return int(constant.sum()) <= 1 and along_sum < float(others.median())


def predicted(complete: Float[Tensor, "... k"]) -> Int[Tensor, "..."]:
    """Place of the largest output, which is the predicted class; −1 where an output is NaN, so that nothing is predicted.

    >>> predicted(torch.tensor([[0.0, 2.0, 1.0], [0.0, torch.nan, 1.0]])).tolist()
    [1, -1]
    """
    return torch.where(complete.isnan().any(-1), -1, complete.argmax(-1))


def labels_in(data: Any, outputs: int) -> Literal["classes", "values"] | None:
    """What the labels in a data set are: places of outputs, or values for them; None if there are none.

    Args:
        data: the user's data. The first few samples of a Dataset or of that of a loader, or the first of several
            batches.
        outputs: number of outputs.

    Examples:
        >>> x, y = torch.zeros(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
        >>> data = torch.utils.data.TensorDataset(x, y)
        >>> labels_in(data, 3), labels_in(data, 2), labels_in(x, 3)
        ('classes', None, None)
    """
    if isinstance(data, DataLoader):
        data = data.dataset
    try:
        if is_map_style(data):
            some = range(min(LABELLED_SAMPLES, len(data)))
            found = [_label(data[place]) for place in some]
        elif isinstance(data, list):
            found = [_label(data[0])]
        else:
            return None
    except Exception:  # whatever a data set does there must not break the analysis
        return None
    if not found or any(one is None for one in found):
        return None
    labels = torch.cat([one.flatten() for one in found if one is not None])
    if labels.dtype.is_floating_point:
        width = labels.numel() // len(found)
        return "values" if width % outputs == 0 and not _one_hot(labels, outputs) else None
    inside = bool(((labels >= 0) & (labels < outputs)).all())
    return "classes" if inside and labels.dtype is not torch.bool else None


def _label(sample: Any) -> Tensor | None:
    """The second entry of a sample or batch as a tensor; None if there is none."""
    if not isinstance(sample, tuple | list) or len(sample) < 2:
        return None
    label = sample[1]
    if isinstance(label, int | float | np.generic | np.ndarray):
        label = torch.as_tensor(label)
    return label.detach().cpu() if isinstance(label, Tensor) and label.numel() else None


def _one_hot(labels: Float[Tensor, " n"], outputs: int) -> bool:
    """Whether labels are ones among zeros."""
    rows = labels.reshape(-1, outputs)
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(1) == 1).all())
