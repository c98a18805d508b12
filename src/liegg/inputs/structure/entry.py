"""A model that takes structured samples, as a function of rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import pad

from liegg._utils.diagnoses import Remark
from liegg.inputs.own_gradient import call_with_graph
from liegg.inputs.structure.elements import MASK
from liegg.inputs.structure.graphs import BATCH, POINTER
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.tree import branches, is_graph, is_tensordict, leaves, rebuild
from liegg.inputs.structure.unpack import MODES, Call, fold

Custom = Callable[[Any, Any], Any]
"""How to call a model, as the user says it: a function of the model and a batch."""


@dataclass(frozen=True, eq=False)
class Convention:
    """How a model is called.

    Attributes:
        layout: where the leaves are in a row.
        tree: the tree that batches look like.
        mode: how samples are put together, a key of `MODES`.
        style: `"tree"` for `model(batch)`, `"places"` for `model(*batch)`, `"names"` for `model(**batch)`.
        names: arguments by keyword, for that style; for `"places"` those that follow.
        custom: the user's own function of the model and a batch; None for the styles above.
        dtype: floating point type of the model; None for that of the data.
        notes: remarks on how samples and model were taken.
        own_gradient: whether the model takes a gradient of its own, and needs autograd for it.
        per_point: paths in what the model returns that have one entry per point, where graphs are joined or sizes vary.
    """

    layout: Layout
    tree: Any
    mode: str
    style: str = "tree"
    names: tuple[str, ...] = ()
    custom: Custom | None = None
    dtype: torch.dtype | None = None
    own_gradient: bool = False
    per_point: frozenset[str] = frozenset()
    notes: tuple[Remark, ...] = ()

    @property
    def input_dtype(self) -> torch.dtype:
        """Floating point type in which the model takes what is moved."""
        return self.dtype or self.layout.moved[0].torch_dtype

    def unused(self) -> tuple[str, ...]:
        """Leaves that the model does not take."""
        if self.style != "names" or self.custom is not None:
            return ()
        taken = set(self.names)
        return tuple(
            leaf.path for leaf in self.layout.leaves if leaf.path.partition(".")[0] not in taken
        )

    def __deepcopy__(self, memo: Any) -> "Convention":
        return self

    def words(self) -> str:
        """How the model is called, as one would type it."""
        if self.custom is not None:
            called = "call(model, batch)"
        elif self.style == "names":
            called = f"model({', '.join(f'{name}=...' for name in self.names)})"
        elif self.style == "places":
            added = "".join(f", {name}=..." for name in self.names)
            called = f"model(*inputs{added})" if added else "model(*batch)"
        else:
            called = "model(batch)"
        together = {
            "joined": ", graphs joined to one",
            "single": ", one sample at a time",
            "listed": ", a list with one tensor per sample",
            "nested": ", as jagged tensors",
            "padded": ", padded with zeros and with a mask",
            "stacked": ", samples of one size at a time" if self.layout.ragged else "",
        }
        return called + together[self.mode]

    def run(self, model: Any, x: Float[Tensor, "b D"]) -> Any:
        """What the model returns for rows, with one entry per sample in every tensor."""
        if self.own_gradient:
            return call_with_graph(partial(replace(self, own_gradient=False).run, model), x)[0]
        calls = MODES[self.mode](self.layout, x, self.dtype)
        returned = [self.call(model, call) for call in calls]
        points = self.layout.point_leaf
        if self.mode == "joined":
            if points is None or not self.per_point:
                return returned[0]
            return _each(
                returned[0],
                lambda path, y: fold(self.layout, x, y, points) if path in self.per_point else y,
            )
        if self.mode == "single":
            returned = [_each(one, self._as_sample) for one in returned]
        if self.per_point and points is not None:
            size = points.shape[0]
            returned = [_each(one, partial(self._padded, size)) for one in returned]
        if len(returned) == 1 and calls[0].rows is None:
            return returned[0]
        order = torch.cat([call.rows for call in calls if call.rows is not None]).argsort()
        parts = [dict(leaves(one)) for one in returned]
        values = {
            path: torch.cat([part[path] for part in parts]).index_select(0, order)
            for path, leaf in parts[0].items()
            if isinstance(leaf, Tensor) and leaf.ndim
        }
        return rebuild(returned[0], values, len(x))

    def call(self, model: Any, call: Call) -> Any:
        """Call the model once."""
        batch = self.batch(call)
        if self.custom is not None:
            return self.custom(model, batch)
        if self.style == "names":
            added = {key: call.leaves[key] for key in (BATCH, POINTER, MASK) if key in call.leaves}
            given = (branches(batch) or {}) | added
            # Any argument that has "mask" in its name takes the mask.
            return model(**{name: given[name if name in given else MASK] for name in self.names})
        if self.style == "places":
            parts = list((branches(batch) or {"": batch}).values())
            parts += [call.leaves[MASK]] if self.mode == "padded" else []
            return model(*parts, **{name: call.leaves[name] for name in self.names})
        returned = model(batch)
        if is_tensordict(returned) and hasattr(model, "out_keys"):  # it holds the inputs too
            return returned.select(*model.out_keys)
        return returned

    def batch(self, call: Call) -> Any:
        """The tree that the model takes."""
        batch = rebuild(self.tree, call.leaves, call.samples)
        if self.mode != "joined":
            return batch
        if is_graph(self.tree):
            batch.batch, batch.ptr = call.leaves[BATCH], call.leaves[POINTER]
            batch._num_graphs = call.samples
            if "num_nodes" in (branches(self.tree) or {}):
                batch.num_nodes = len(call.leaves[BATCH])
            return batch
        return batch | {BATCH: call.leaves[BATCH]} if isinstance(batch, dict) else batch

    def _as_sample(self, path: str, y: Tensor) -> Tensor:
        """The output of one sample with an axis of samples before it."""
        alone = y.ndim > 1 and y.shape[0] == 1 and path not in self.per_point
        return y if alone else y[None]

    def _padded(self, size: int, path: str, y: Tensor) -> Tensor:
        """An output with one entry per point, padded to the largest number of points."""
        if path not in self.per_point:
            return y
        return pad(y, (0, 0) * (y.ndim - 2) + (0, size - y.shape[1]))


class Entry(nn.Module):
    """A module that takes structured samples, as a module that takes rows.

    Attributes:
        model: the user's module.
        convention: how it is called.
    """

    def __init__(self, model: nn.Module, convention: Convention) -> None:
        super().__init__()
        self.model, self.convention = model, convention
        self.__name__ = getattr(model, "__name__", type(model).__name__)
        self.train(model.training)

    def forward(self, x: Float[Tensor, "b D"]) -> Any:
        """Unpack the rows, and call the module."""
        return self.convention.run(self.model, x)


def entry(model: Any, convention: Convention) -> Callable[[Tensor], Any]:
    """The model as a function of rows, with its name and convention; a module stays a module."""
    if isinstance(model, nn.Module):
        return Entry(model, convention)
    function: Any = partial(convention.run, model)
    function.__name__ = getattr(model, "__name__", type(model).__name__)
    function.convention = convention
    return function


def batch_like(tree: Any) -> Any:
    """A PyG graph as a batch of graphs, as its models expect it; any other tree as it is."""
    if not is_graph(tree) or hasattr(tree, "_num_graphs"):
        return tree
    for kind in type(tree).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__module__ == f"{library}.data.data":
            return import_module(f"{library}.data").Batch.from_data_list([tree])
    return tree


def _each(returned: Any, change: Callable[[str, Tensor], Tensor]) -> Any:
    """What a model returned with every tensor changed."""
    values = {
        path: change(path, leaf) for path, leaf in leaves(returned) if isinstance(leaf, Tensor)
    }
    return rebuild(returned, values, 0)
