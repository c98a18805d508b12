"""Structured samples for the verbs: data as rows, a model of rows, and an action on rows."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from liegg._utils.arguments import shown
from liegg._utils.checks import check_seed
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import (
    ArgumentError,
    DataError,
    ModelError,
    NotDifferentiableError,
    TreeDataError,
)
from liegg._utils.forward_mode import differentiable_attention
from liegg._utils.random import seeded
from liegg.actions import Action
from liegg.actions.placed import place, places_of
from liegg.discovery.clouds import clouds_in, with_advice
from liegg.inputs.batches import Batches, Data
from liegg.inputs.foreign.trees import how_called, row_model
from liegg.inputs.inner.rest import ACTIVATION, Rest
from liegg.inputs.model import eval_view
from liegg.inputs.structure.calling import TRIED
from liegg.inputs.structure.derived import derived_remarks
from liegg.inputs.structure.elements import fits_leaf, is_list_of_samples, only_floating
from liegg.inputs.structure.entry import Convention, Custom
from liegg.inputs.structure.layout import Layout
from liegg.inputs.structure.masks import check_mask_shapes, with_masks
from liegg.inputs.structure.packed import Packed, first_element, pack_data
from liegg.inputs.structure.tree import as_path, is_array, is_named_tuple, is_tree
from liegg.inputs.table import is_table

Moves = Action | Mapping[Any, Any]
"""An action, or a mapping from paths in a sample to actions."""

Result = TypeVar("Result")

ABOUT_MASKS = (Diagnosis.MASKED_POINTS, Diagnosis.MASK_NOT_TAKEN)
"""Remarks that matter at an inner point too."""

MOST_MASKS = 1024
"""Samples of which masks are compared with what the model does with padding."""

LOOKED_AT = 64
"""Samples of which a few of different sizes are chosen to see how a model is called."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a verb analyses.

    Attributes:
        model: the user's model, or a function of rows.
        data: the user's data, or rows.
        action: on samples or rows.
    """

    model: Any
    data: Any
    action: Action


def as_inputs(
    model: Any,
    data: Data,
    action: Moves,
    *,
    call: Custom | None = None,
    seed: int = 0,
    trees: bool = False,
) -> Inputs:
    """Model, data and action as the analysis takes them; plain tensors stay as they are.

    Args:
        model: as for `discover`.
        data: as for `discover`.
        action: an action, or actions by path.
        call: how the model is called, a function of the model and a batch.
        seed: of whatever a loader draws.
        trees: whether samples are known to be trees.

    Raises:
        LieggError: a structure that makes no sense; the message lists the tensors that there are.
    """
    check_seed(seed)
    with seeded(seed):
        if not (trees or is_structured(data, action)):
            if call is not None:
                raise ArgumentError(
                    "call= is for structured samples, such as dictionaries. For plain tensors pass a function: "
                    "lambda x: model(x)."
                )
            return Inputs(model, data, action)  # pyright: ignore[reportArgumentType]
        called, packed, convention, action = _called(model, data, action, call)
    unused = convention.unused()
    notes = (*_notes(packed, convention.words(), unused), *convention.notes)
    if isinstance(model, Rest):
        masked = [note for note in notes if note.diagnosis in ABOUT_MASKS]
        shape = [*packed.layout.by_path[ACTIVATION].shape]
        notes = (Diagnosis.INNER_POINT(layer=repr(model.layer), shape=shape), *masked)
    layout = packed.layout.without(unused)
    convention = replace(convention, layout=layout, notes=notes)
    packed = replace(packed, layout=layout)
    return Inputs(row_model(called, convention), packed, action.with_structure(layout))


def _called(
    model: Any, data: Data, action: Moves, call: Custom | None
) -> tuple[Any, Packed, Convention, Action]:
    """The model as it is called, data as rows, how it is called, and the action on rows.

    Vectors along the first axis are samples, unless the model takes no batch of these but clouds of them.
    """
    problem: ModelError | None = None
    for clouds in (False, True):
        packed, tree, on_rows = pack_samples(data, action, clouds=clouds)
        if problem is not None and packed.reader.kind == "batch":
            break
        rows = _different_sizes(packed)
        with torch.inference_mode(False), differentiable_attention(), eval_view(model) as function:
            rows = rows if function.device is None else rows.to(function.device)
            try:
                called, how = how_called(
                    model, function.function, packed, tree, call=call, rows=rows
                )
                if not _has_masks(action):
                    run = partial(how.run, function.function if called is model else called)
                    packed, how = _masked(packed, how, model, run, device=function.device)
                remarks = derived_remarks(packed.layout, rows, how.unused())
                how = replace(how, notes=(*how.notes, *remarks))
                return called, packed, how, on_rows
            except ModelError as error:
                check_mask_shapes(packed.layout)
                problem = _about_points(error, packed, on_rows)
        if packed.reader.kind != "batch":
            break
    raise problem or ModelError("the model cannot be called")


def _about_points(error: ModelError, packed: Packed, action: Action) -> ModelError:
    """The error of a model; with what to pass if a tensor that was read as samples holds the points of graphs."""
    if packed.reader.kind != "batch" or packed.chunk is None:
        return error
    for path, one in places_of(action).items():
        count, shape = len(packed.chunk[path]), packed.layout.by_path[path].shape
        if len(shape) == 1 and fits_leaf(partial(_check, one), (count, *shape)):
            return ModelError(
                f"{path!r} was read as {count} samples of one vector each. If these are the points of clouds or graphs, pass a "
                "list of samples, or add 'batch', the number of the cloud or graph of every point. As samples of one vector: "
                f"{error}"
            )
    return error


def _has_masks(action: Moves) -> bool:
    """Whether masks were decided before, with the data of an earlier result."""
    return isinstance(action, Action) and action.structure is not None


def _masked(
    packed: Packed,
    convention: Convention,
    model: Any,
    run: Callable[[Tensor], Any],
    *,
    device: torch.device | None,
) -> tuple[Packed, Convention]:
    """Data and call with the masks of padding; graphs have none.

    A mask that the model does not receive by name says nothing about its padding.
    """
    if convention.mode == "joined" or packed.reader.kind == "graphs":
        return packed, convention
    unused = convention.unused()
    caller = model.caller if isinstance(model, Rest) else None
    by_name = caller is not None and caller.style == "names" and caller.custom is None

    def given(path: str) -> bool:
        taken = not by_name or caller is None or path.partition(".")[0] in caller.names
        return taken and path not in unused

    looked_at = packed
    if packed.indexed:  # in random order, since data may be sorted
        order = torch.randperm(len(packed), generator=torch.Generator().manual_seed(0))
        looked_at = packed.select(order[:MOST_MASKS].tolist())
    size = LOOKED_AT if packed.indexed else None
    batches = Batches(looked_at, size, device=device, finite=False)
    with closing(iter(batches)) as rows, torch.no_grad():
        layout, remarks = with_masks(packed.layout, run, rows, given)
    return (
        replace(packed, layout=layout),
        replace(convention, layout=layout, notes=tuple(remarks)),
    )


def with_inputs(
    analyse: Callable[[Inputs], Result],
    model: Any,
    data: Data,
    action: Moves,
    *,
    call: Custom | None = None,
    seed: int = 0,
) -> Result:
    """Analyse, as structured samples if the data turns out to hold trees when it is read.

    Args:
        analyse: the analysis.
        model: as for `as_inputs`.
        data: as for `as_inputs`.
        action: as for `as_inputs`.
        call: as for `as_inputs`.
        seed: as for `as_inputs`.
    """

    def analysed(trees: bool) -> Result:
        given = as_inputs(model, data, action, call=call, seed=seed, trees=trees)
        try:
            return analyse(given)
        except NotDifferentiableError as error:
            if type(error) is NotDifferentiableError and isinstance(given.data, Packed):
                raise _about_held(error, given.data.layout) from error
            raise

    try:
        return analysed(call is not None and isinstance(data, Dataset | DataLoader))
    except DataError as error:
        if isinstance(error, TreeDataError) or clouds_in(data, action, error):
            return analysed(True)
        if (advised := with_advice(error, data, action)) is not None:
            raise advised from error
        raise
    except ModelError as error:
        if (advised := with_advice(error, data, action)) is not None:
            raise advised from error
        raise


def _about_held(error: NotDifferentiableError, layout: Layout) -> NotDifferentiableError:
    """The error of a model without a derivative; it may not use what moves, and change with what is held."""
    moved = ", ".join(repr(leaf.path) for leaf in layout.moved)
    held = ", ".join(repr(leaf.path) for leaf in layout.held)
    if not held:
        return error
    return NotDifferentiableError(
        f"{error} Or the model does not use {moved}, which moves, but only what is held ({held}): then move that."
    )


def as_samples(data: Data, action: Action) -> tuple[Data, Action]:
    """Other data for the same question, and the action on it; plain tensors and their action stay as they are."""
    if action.structure is None:
        return data, action
    packed, _, action = pack_samples(data, action)
    return packed, action


def pack_samples(data: Data, action: Moves, *, clouds: bool = False) -> tuple[Packed, Any, Action]:
    """Structured data as rows, its first sample or batch, and the action on rows.

    Args:
        data: as for `discover`.
        action: an action on the only tensor that it can move, actions by path, or an action on rows of other data.
        clouds: whether vectors along the first axis are points of one sample, where they might also be samples.
    """
    if isinstance(action, Action) and action.structure is not None:
        moves = places_of(action)
        packed, tree = pack_data(data, _fits(moves), clouds=clouds)
        packed = replace(packed, layout=packed.layout.masked_like(action.structure))
        return packed, tree, action.with_structure(packed.layout)
    if isinstance(action, Mapping):
        moves = _checked_moves(action)
        _check_paths(moves)
    else:
        element, complete = first_element(data)
        if not complete and is_list_of_samples(data, element):
            element = element[0]
        if isinstance(element, tuple | list) and not is_named_tuple(element):
            element = element[0]  # inputs with labels
        fits = partial(fits_leaf, partial(_check, action))
        moves = {only_floating(element, fits, action.code() or repr(action)): action}
    packed, tree = pack_data(data, _fits(moves), clouds=clouds)
    paths = dict(zip(packed.reader.paths, moves.values(), strict=True))
    return packed, tree, place(paths, packed.layout)


def is_structured(data: Data, action: Moves) -> bool:
    """Whether samples are trees, graphs or of different sizes, and not tensors of one shape.

    A tuple or list without names is a tree only if the action says where it moves: otherwise it means inputs with labels.
    Datasets and loaders are not looked at here: reading them raises `TreeDataError` if their samples are trees.
    """
    if isinstance(action, Mapping) or action.structure is not None or isinstance(data, Packed):
        return True
    if is_table(data):
        return False
    if isinstance(data, Tensor):
        return data.is_nested
    if is_tree(data):
        return True
    ragged = getattr(action, "copies", 1) is None
    element = data[0] if isinstance(data, list | tuple) and data else None
    if isinstance(element, tuple | list) and element and not hasattr(element, "_fields"):
        element = element[0]
    if is_array(element):
        return ragged and element.ndim < 3
    return element is not None and is_tree(element)


def _checked_moves(action: Mapping[Any, Any]) -> dict[Any, Action]:
    """Actions by path."""
    if not action:
        raise ArgumentError(
            "action={} moves nothing. Say which tensor moves, for example action={'pos': liegg.Affine(3)}."
        )
    for path, one in action.items():
        if not isinstance(one, Action):
            raise ArgumentError(
                f"action={{{path!r}: {shown(one)}}}: expected an action, for example {{{path!r}: liegg.Affine(3)}}."
            )
    return dict(action)


def _check_paths(moves: Mapping[Any, Action]) -> None:
    """Raise `ArgumentError` for a path that is there twice, in two ways of writing it."""
    written: dict[str, Any] = {}
    for path in moves:
        if (text := as_path(path)) in written:
            raise ArgumentError(
                f"action= has {written[text]!r} and {path!r}, which are the same path; expected one action for each tensor."
            )
        written[text] = path


def _fits(moves: Mapping[Any, Action]) -> dict[Any, Any]:
    """For every path, what raises `ShapeError` unless its action accepts a shape."""
    return {path: partial(_check, action) for path, action in moves.items()}


def _check(action: Action, shape: tuple[int, ...]) -> None:
    action.fitted(shape).check(shape)


def _different_sizes(packed: Packed) -> Float[Tensor, "k D"]:
    """A few samples, of different sizes as far as possible; data that is sorted by size is read on until there are two."""
    layout, points = packed.layout, packed.layout.point_leaf
    ragged = [leaf for leaf in layout.leaves if leaf.ragged is not None]
    ragged.sort(key=lambda leaf: leaf is not points)  # the number of points first
    first: dict[tuple[int, ...], Tensor] = {}
    others: list[Tensor] = []
    # What the model does not take may hold NaN; the pass reads the rest and checks it.
    batches, seen = Batches(packed, LOOKED_AT if packed.indexed else None, finite=False), 0
    with closing(iter(batches)) as iterator:
        for rows in iterator:
            counts = [layout.counts(rows, leaf).tolist() for leaf in ragged]
            for place_, row in enumerate(rows):
                size = tuple(count[place_] for count in counts)
                if size not in first and len(first) < LOOKED_AT:
                    first[size] = row
                elif len(others) < TRIED:
                    others.append(row)
            seen += len(rows)
            if seen >= LOOKED_AT and (not ragged or len({size[0] for size in first}) > 1):
                break
    largest = max(first)  # differs from the first in the number of points, if any does
    ordered = [first.pop(largest), *first.values(), *others]
    return torch.stack(ordered[:TRIED])


def _notes(packed: Packed, words: str, unused: tuple[str, ...]) -> Iterable[Remark]:
    """How the samples and the model were taken."""
    layout = packed.layout
    yield Diagnosis.CALLED_AS(call=words)
    held = [leaf.path for leaf in layout.held if leaf.path not in unused]
    if held:
        yield Diagnosis.HELD_LEAVES(leaves=", ".join(map(repr, held)))
    if unused:
        yield Diagnosis.UNUSED_LEAVES(leaves=", ".join(map(repr, unused)))
    for leaf in layout.moved:
        if leaf.mask:
            value = "True" if leaf.padding else "False"
            yield Diagnosis.MASKED_POINTS(leaf=repr(leaf.path), mask=repr(leaf.mask), value=value)
    points = layout.point_leaf
    if points is not None and points.ragged is not None:
        yield Diagnosis.RAGGED_SAMPLES(
            leaf=repr(points.path) if points.path else "a sample", most=points.shape[0]
        )
