"""How a model takes structured samples: as its signature suggests, and as it works on a few samples."""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from liegg._utils.arguments import shown
from liegg._utils.errors import LieggError, ModelError, NoOutputError, VaryingValueError, one_line
from liegg._utils.unwrap_compiled import original
from liegg.inputs.own_gradient import call_with_graph, takes_gradient
from liegg.inputs.structure.elements import MASK
from liegg.inputs.structure.entry import Convention, Custom, batch_like
from liegg.inputs.structure.graphs import BATCH, POINTER
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.packed import Packed
from liegg.inputs.structure.tree import branches, is_graph, is_tensordict, leaves
from liegg.inputs.structure.unpack import MODES

WHOLE = ("batch", "data", "graph", "inputs", "sample")
"""Names of a single argument that takes the complete batch."""

TRIED = 4
"""Samples on which ways of calling are tried."""

LISTED_WAYS = 3
"""Most ways of calling listed in a message."""

SHRUNK = 0.9
"""Size of a second sample, relative to the first, on which ways of calling are tried."""

OUTPUT_AGREEMENT = 1e-3
"""Relative difference up to which a sample in a batch and alone have the same output."""


NOISES = 3.0
"""Differences between two equal calls up to which a difference is noise."""


def convention_for(
    model: Any, packed: Packed, tree: Any, *, call: Custom | None, rows: Float[Tensor, "b D"]
) -> Convention:
    """Find how a model is called, by trying on a few samples.

    Args:
        model: the model, in eval mode.
        packed: the data.
        tree: its first sample or batch.
        call: the user's own function of the model and a batch; None to follow the signature.
        rows: a few samples, if possible of different sizes.

    Raises:
        ModelError: none of the ways to call the model works; the message lists them. Or the model uses a value
            that is not a tensor and differs between samples.
    """
    layout, dtype = packed.layout, _float_dtype(model)
    tried: list[str] = []
    missing: ImportError | None = None
    without: NoOutputError | None = None
    for mode in _modes(packed, tree, model, call):
        like = batch_like(tree) if mode == "joined" else tree
        styles = [("tree", ())] if call is not None else styles_of(model, like, mode)
        for style, names in styles:
            convention = Convention(layout, like, mode, style, names, call, dtype)
            try:
                with torch.no_grad():
                    return _tried(convention, model, rows)
            except (torch.OutOfMemoryError, VaryingValueError):
                raise
            except NoOutputError as error:
                without = without or error
            except LieggError as error:
                tried.append(f"{convention.words()}: {str(error).rstrip('.')}")
            except ImportError as error:
                missing = error
                tried.append(f"{convention.words()}: {one_line(error)}")
            except Exception as error:
                tried.append(f"{convention.words()}: {one_line(error)}")
    name = getattr(model, "__name__", type(model).__name__)
    if missing is not None:
        raise ModelError(
            f"{name} needs a package that is not installed, or another version of it: {one_line(missing)}. Install it."
        ) from missing
    if without is not None:  # it takes the samples
        raise NoOutputError(f"{name} {without}") from None
    different = list(dict.fromkeys(tried))
    more = f"; and {len(different) - LISTED_WAYS} more ways" if len(different) > LISTED_WAYS else ""
    listed = "; ".join(different[:LISTED_WAYS]) + more
    paths = ", ".join(repr(leaf.path) for leaf in layout.leaves)
    raise ModelError(
        f"{name} does not take samples with {paths}. Tried {listed}. Say how it is called, for example "
        f"call=lambda model, batch: model(batch['z'], batch['pos']).{_about_sets(layout, rows)}"
    )


def _about_sets(layout: Layout, rows: Float[Tensor, "b D"]) -> str:
    """What to do with graphs that have several sets of nodes, which are not joined; empty for others."""
    points = layout.point_leaf
    if points is None:
        return ""
    count = layout.counts(rows, points)
    others = [
        repr(leaf.path)
        for leaf in layout.moved
        if leaf.ragged is not None and not torch.equal(layout.counts(rows, leaf), count)
    ]
    if not others or all(leaf.joined is None for leaf in layout.moved):
        return ""
    return (
        f" {', '.join(others)} and {points.path!r} have different numbers of points: graphs with several sets of nodes are "
        "not joined. Pass a model of one graph, without 'batch'."
    )


def _float_dtype(model: Any) -> torch.dtype | None:
    """Floating point type of the weights, if they have one."""
    model = original(model)
    if not isinstance(model, nn.Module):
        return None
    tensors = (*model.parameters(), *model.buffers())
    dtypes = {tensor.dtype for tensor in tensors if tensor.dtype.is_floating_point}
    return dtypes.pop() if len(dtypes) == 1 else None


def _parameters(model: Any) -> list[inspect.Parameter]:
    """Parameters of a model; none if they are not known."""
    model = original(model)
    try:
        function = model.forward if isinstance(model, nn.Module) else model
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _modes(packed: Packed, tree: Any, model: Any, call: Custom | None) -> Iterator[str]:
    """Ways to put samples together, the most likely first."""
    layout, kind = packed.layout, packed.reader.kind
    if kind == "batch":
        nested = any(isinstance(leaf, Tensor) and leaf.is_nested for _, leaf in leaves(tree))
        yield from ("nested",) if nested else ()
        yield "stacked"
        return
    joinable = layout.points is not None and all(
        leaf.ragged is None or leaf.ragged == leaf.joined for leaf in layout.leaves
    )
    wanted = {parameter.name for parameter in _parameters(model)}
    single = any(leaf.indexes for leaf in layout.leaves)
    if joinable and (is_graph(tree) or kind == "graphs" or BATCH in wanted):
        yield "joined"
    if call is not None or kind == "graphs":
        yield "single"
        return
    has_mask = any(MASK in leaf.path for leaf in layout.leaves)
    if not has_mask and any(MASK in name for name in wanted) and layout.points is not None:
        yield "padded"
    if not single:
        yield "stacked"
    yield "single"
    yield "listed"


def styles_of(model: Any, tree: Any, mode: str = "stacked") -> list[tuple[str, tuple[str, ...]]]:
    """Ways to pass a batch, the most likely first.

    Args:
        model: the model.
        tree: what batches look like.
        mode: how samples are put together; by default along the first axis.
    """
    parameters = [p for p in _parameters(model) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    required = [p.name for p in parameters if p.default is p.empty]
    inside = branches(tree)
    with_batch = mode == "joined" and BATCH in {p.name for p in _parameters(model)}
    numbered = (BATCH,) if with_batch else ()
    if inside is None:  # a bare tensor
        return [("places", numbered)] if mode == "padded" or numbered else [("tree", ())]
    added = {"joined": {BATCH, POINTER}, "padded": {MASK}}.get(mode, set())
    known = {*inside, *added}
    if isinstance(tree, tuple | list) and not hasattr(tree, "_fields"):
        several = len(required) > 1 or not _parameters(model)
        order = [("places", numbered), ("tree", ())]
        return order if several else order[::-1]
    names = tuple(
        p.name
        for p in parameters
        if p.kind is not p.POSITIONAL_ONLY
        and (p.name in known or (MASK in p.name and MASK in added))
    )
    if any(p.kind is p.VAR_KEYWORD for p in _parameters(model)):  # it takes everything by name
        everything = (*inside, BATCH) if BATCH in added else tuple(inside)
        names += tuple(name for name in everything if name not in names)
    complete = len(required) == 1 and required[0] in WHOLE
    complete |= is_tensordict(tree) and hasattr(original(model), "in_keys")  # its own module
    fits = bool(names) and set(required) <= set(names) and not complete
    if fits:
        return [("names", names), ("tree", ())]
    second = [("names", names)] if names and set(required) <= set(names) else []
    return [("tree", ()), *second]


def _tried(convention: Convention, model: Any, rows: Float[Tensor, "b D"]) -> Convention:
    """The convention, if it works; with autograd on for a model that takes a gradient of its own."""
    try:
        return _checked(convention, model, rows)
    except RuntimeError:
        if not takes_gradient(partial(convention.run, model), rows[:1]):
            raise
        return _checked(replace(convention, own_gradient=True), model, rows)


def _checked(convention: Convention, model: Any, rows: Float[Tensor, "b D"]) -> Convention:
    """The convention, if samples have the same output alone and together."""
    if convention.mode == "joined":
        convention = replace(convention, per_point=_per_node(convention, model, rows))
    elif convention.mode in ("stacked", "single") and convention.layout.ragged:
        raw = [_arrays(convention.run(model, row[None].clone())) for row in rows]
        convention = replace(convention, per_point=_per_point(convention, rows, raw))
    layout = convention.layout
    movable = layout.movable(rows[:1], [leaf.path for leaf in layout.moved])
    # Another sample of the size of the first: only two of one size show what the first axis means.
    rows = torch.cat([rows, torch.where(movable, SHRUNK * rows[:1], rows[:1])])
    alone = [_real_leaves(convention.run(model, row[None].clone())) for row in rows]
    if not alone[0]:
        raise NoOutputError(_other_output(convention.run(model, rows[:1].clone())))
    if convention.mode == "nested":
        _check_derivative(convention, model, rows)
    together = _real_leaves(convention.run(model, rows.clone()))
    shapes = []
    for path in alone[0]:
        y = together.get(path)
        shapes.append(() if y is None else tuple(y.shape))
        if y is None or y.shape[0] != len(rows):
            continue
        reference = torch.cat([one[path].reshape(1, *y.shape[1:]) for one in alone])
        change = _relative_change(reference, y)
        if change > OUTPUT_AGREEMENT:
            again = _real_leaves(convention.run(model, rows.clone()))[path]
            if change > NOISES * _relative_change(
                y, again
            ):  # a random model is refused later, for what it is
                raise ModelError(
                    f"samples together and alone have different outputs, by {change:.1e} of their size, as if it mixed them"
                )
        return convention
    raise ModelError(f"it returned shape {shapes[0]} for {len(rows)} samples")


def _relative_change(one: Tensor, other: Tensor) -> float:
    """Largest difference of two outputs, relative to the larger of them."""
    size = float(torch.maximum(one.abs().max(), other.abs().max())) + torch.finfo(one.dtype).tiny
    return float((one - other).abs().max()) / size


def _other_output(returned: Any) -> str:
    """What a model returned, and what to return."""
    dtypes = sorted({str(leaf.dtype) for _, leaf in leaves(returned) if isinstance(leaf, Tensor)})
    if any(leaf.is_floating_point() for _, leaf in leaves(returned) if isinstance(leaf, Tensor)):
        return "returned floating point tensors without an axis; expected one entry per sample along the first axis."
    if dtypes:
        return f"returned {', '.join(dtypes)}; symmetries need real floating point outputs. Return logits, not classes."
    return f"returned {shown(returned)}; expected a floating point tensor with one entry per sample, or a tree of them."


def _check_derivative(convention: Convention, model: Any, rows: Float[Tensor, "b D"]) -> None:
    """Raise whatever torch raises where it has no derivative, as for many operations on jagged tensors."""
    with torch.enable_grad():
        leaf = rows.clone().requires_grad_()
        y = next(iter(_real_leaves(convention.run(model, leaf)).values()))
        torch.autograd.grad(y.sum(), leaf, materialize_grads=True)


def _real_leaves(returned: Any) -> dict[str, Tensor]:
    """Floating point tensors in what a model returned, by path."""
    return {path: leaf for path, leaf in _arrays(returned).items() if leaf.is_floating_point()}


def _arrays(returned: Any) -> dict[str, Tensor]:
    """Tensors with an axis in what a model returned, by path."""
    return {p: leaf for p, leaf in leaves(returned) if isinstance(leaf, Tensor) and leaf.ndim}


def _per_node(convention: Convention, model: Any, rows: Float[Tensor, "b D"]) -> frozenset[str]:
    """Outputs with one entry per node of joined graphs."""
    layout = convention.layout

    def joined(x: Tensor) -> tuple[Any, int]:
        (call,) = MODES["joined"](layout, x, convention.dtype)
        return convention.call(model, call), len(call.leaves[BATCH])

    own, x = convention.own_gradient, rows.clone()
    raw, total = call_with_graph(joined, x)[0] if own else joined(x)
    returned = _arrays(raw)
    return frozenset(
        path for path, y in returned.items() if y.shape[0] == total and total != len(rows)
    )


def _per_point(
    convention: Convention, rows: Float[Tensor, "b D"], alone: list[dict[str, Tensor]]
) -> frozenset[str]:
    """Outputs whose first axis after that of samples follows the number of points."""
    layout = convention.layout
    if layout.point_leaf is None:
        return frozenset()
    counts = layout.counts(rows, layout.point_leaf).tolist()
    if len(set(counts)) == 1:
        return frozenset()
    return frozenset(
        path
        for path in alone[0]
        if all(one[path].shape[1:2] == (n,) for one, n in zip(alone, counts, strict=True))
    )
