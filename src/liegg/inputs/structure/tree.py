"""Trees of tensors: what is inside a container, and the same container with other contents.

Containers of other libraries (graphs of PyG, encodings of transformers, TensorDicts) are recognised by
what they can do; none of these libraries is imported.
"""

import copy
import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from liegg._utils.errors import ArgumentError, DataError
from liegg.inputs.foreign.jax_function import is_jax_array

LISTED_PATHS = 20
"""Most paths listed in a message."""

LISTED_NUMBERED = 4
"""Most entries of one list that a message lists one by one."""


def is_graph(value: Any) -> bool:
    """Whether a value is a graph of PyG: it has stores of tensors, and says how to join them.

    >>> is_graph({"pos": 1})
    False
    """
    return hasattr(value, "stores") and hasattr(value, "to_dict") and hasattr(value, "__cat_dim__")


def is_tensordict(value: Any) -> bool:
    """Whether a value is a TensorDict."""
    return hasattr(value, "batch_size") and hasattr(value, "batch_dims")


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def entries(value: Any) -> dict[Any, Any] | None:
    """What is inside a container, by key, name or place; None if it is not a container.

    >>> entries({"a": 1}), entries((5, 6)), entries(torch.ones(2))
    ({'a': 1}, {0: 5, 1: 6}, None)
    """
    if is_array(value) or isinstance(value, str | bytes):
        return None
    if is_graph(value):
        return value.to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    if is_named_tuple(value):
        return value._asdict()
    if isinstance(value, tuple | list):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def branches(value: Any) -> dict[str, Any] | None:
    """The entries of a container in a sample, by text; None for a leaf.

    >>> branches((5, 6))
    {'0': 5, '1': 6}
    """
    if is_graph(value) and hasattr(value, "node_types"):
        raise DataError(
            f"a sample is a {type(value).__name__} with several types of nodes, which is not "
            "supported. Pass a dictionary of its tensors, and call= to build the graph from it."
        )
    inside = entries(value)
    return None if inside is None else {str(key): part for key, part in inside.items()}


def is_tree(value: Any) -> bool:
    """Whether a value is a container with names: not a tensor, a tuple or a list, which mean inputs with labels."""
    plain = isinstance(value, tuple | list) and not is_named_tuple(value)
    return not plain and branches(value) is not None


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All leaves of a tree with their paths; those of an empty container are none.

    >>> dict(leaves({"graph": (1, 2), "z": 3}))
    {'graph.0': 1, 'graph.1': 2, 'z': 3}
    """
    inside = branches(tree)
    if inside is None:
        yield path, tree
        return
    for key, part in inside.items():
        yield from leaves(part, f"{path}.{key}" if path else key)


def tensors(tree: Any) -> dict[str, Tensor]:
    """The leaves that are tensors or numeric arrays, as tensors without derivatives."""
    return {path: as_leaf(leaf) for path, leaf in leaves(tree) if is_numeric(leaf)}


def is_numeric(leaf: Any) -> bool:
    """Whether a leaf holds numbers that belong to samples: a tensor, or an array of numbers."""
    if isinstance(leaf, np.ndarray) or is_jax_array(leaf):
        return leaf.dtype.kind in "fiub" and leaf.dtype.itemsize <= 8
    return isinstance(leaf, Tensor)


def is_array(value: Any) -> TypeGuard[Any]:
    """Whether a value is a tensor, or an array of numpy or JAX."""
    return isinstance(value, Tensor | np.ndarray) or is_jax_array(value)


def as_leaf(leaf: Any) -> Tensor:
    """A leaf as a tensor; arrays are copied."""
    leaf = np.asarray(leaf) if is_jax_array(leaf) else leaf
    if isinstance(leaf, np.ndarray):
        return torch.from_numpy(np.array(leaf, dtype=leaf.dtype.newbyteorder("="), order="C"))
    return leaf.detach()


def rebuild(tree: Any, values: Mapping[str, Any], batch: int, path: str = "") -> Any:
    """A tree like another one with other leaves; leaves without a new value stay.

    Args:
        tree: the tree to imitate, which is not changed.
        values: new leaves by path, or what stands in place of a container.
        batch: number of samples in the new leaves, for containers that store it.
        path: of the tree inside a larger one.

    Examples:
        >>> rebuild({"a": (1, "text")}, {"a.0": 5}, 1)
        {'a': (5, 'text')}
    """
    inside = branches(tree)
    if inside is None or path in values:
        return values.get(path, tree)
    parts = {
        key: rebuild(part, values, batch, f"{path}.{key}" if path else key)
        for key, part in inside.items()
    }
    if is_named_tuple(tree):
        return type(tree)(*parts.values())
    if isinstance(tree, tuple | list):
        return type(tree)(parts.values())
    if is_graph(tree) or dataclasses.is_dataclass(tree):
        other = copy.copy(tree)
        for key, part in parts.items():
            object.__setattr__(other, key, part) if not is_graph(tree) else setattr(
                other, key, part
            )
        return other
    if is_tensordict(tree):
        return _tensordict(tree, parts, batch)
    keys = dict(zip(parts, tree, strict=True))  # keys need not be texts
    plain = {keys[key]: part for key, part in parts.items()}
    if type(tree) is dict:
        return plain
    try:
        other = copy.copy(tree)
        other.update(plain)
    except (AttributeError, TypeError):  # a mapping that cannot be copied or changed
        return plain
    return other


def _tensordict(tree: Any, parts: Mapping[str, Any], batch: int) -> Any:
    """A TensorDict with other contents; a lazy stack becomes one that is not lazy."""
    kind = type(tree)
    if hasattr(tree, "tensordicts"):
        kind = getattr(sys.modules[kind.__module__.partition(".")[0]], "TensorDict", kind)
    further = tuple(tree.batch_size[1:])
    shapes = [tuple(leaf.shape[1:]) for leaf in parts.values() if hasattr(leaf, "shape")]
    kept = further if all(shape[: len(further)] == further for shape in shapes) else ()
    return kind(dict(parts), batch_size=[batch, *kept])


def as_path(path: Any) -> str:
    """A path as `leaves` writes it, from a key, a place, or a tuple of them as TensorDicts have it.

    >>> as_path(("atoms", "pos")), as_path(1)
    ('atoms.pos', '1')
    """
    return ".".join(map(str, path)) if isinstance(path, tuple) else str(path)


def find(tree: Any, path: Any) -> str:
    """The path of one tensor in a tree, as `leaves` writes it.

    Args:
        tree: a sample or a batch.
        path: a key, a place, or several of them in a tuple or joined by dots.

    Raises:
        ArgumentError: there is no such path, or no tensor there; the message lists those that there are.

    Examples:
        >>> find({"graph": {"pos": torch.ones(2)}}, "graph.pos")
        'graph.pos'
    """
    text, all_leaves = as_path(path), dict(leaves(tree))
    if text in all_leaves and is_numeric(all_leaves[text]):
        return text
    if "" in all_leaves:  # the tree is a leaf
        raise ArgumentError(
            f"{text!r} cannot be moved: samples are plain arrays, whose parts have no names. Leave the name out: pass the "
            "action alone, without --moves on the command line."
        )
    paths = [name for name, leaf in all_leaves.items() if is_numeric(leaf)]
    check_no_columns(paths, text)
    if text in all_leaves:
        problem = f"there is a {type(all_leaves[text]).__name__} there, not a tensor"
    elif any(name.startswith(f"{text}.") for name in paths):
        problem = "it holds several tensors"
    elif any(name.startswith(f"{text}.") for name in all_leaves):
        problem = "it holds Python numbers or texts; expected a tensor, such as torch.tensor of it"
    else:
        problem = "there is no such path"
    nearest = get_close_matches(text, paths, n=1, cutoff=0.5)
    advice = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ArgumentError(
        f"{text!r} cannot be moved: {problem}. The tensors of a sample are {describe(tree)}.{advice}"
    )


def check_no_columns(paths: Iterable[str], key: str) -> None:
    """Raise `ArgumentError` if a key holds one tensor per sample, where a list of samples was expected.

    Args:
        paths: of the tensors of a tree.
        key: what is moved.
    """
    count = sum(path.startswith(f"{key}.") and path[len(key) + 1 :].isdigit() for path in paths)
    if count > 1:
        raise ArgumentError(
            f"{key!r} is a list of {count} tensors; expected one tensor. If each belongs to a sample, pass a list of samples: "
            "[dict(zip(data, one)) for one in zip(*data.values())]."
        )


def describe(tree: Any) -> str:
    """The tensors of a tree with shape and type; of a long list the first.

    >>> describe({"pos": torch.zeros(2, 3)})
    "'pos' (2, 3) float32"
    >>> describe({"x": [torch.zeros(2)] * 60})
    "'x.0' (2,) float32 to 'x.59'"
    """
    found, listed = tensors(tree), []
    lists = Counter(path.rpartition(".")[0] for path in found if path.rpartition(".")[2].isdigit())
    for path, leaf in found.items():
        parent, _, name = path.rpartition(".")
        many = name.isdigit() and lists[parent] > LISTED_NUMBERED
        if many and name != "0":
            continue
        last = f" to {f'{parent}.{lists[parent] - 1}'.lstrip('.')!r}" if many else ""
        kind = str(leaf.dtype).removeprefix("torch.")
        listed.append(f"{path!r} {_size(leaf)} {kind}{last}")
    rest = f" and {len(listed) - LISTED_PATHS} more" if len(listed) > LISTED_PATHS else ""
    return (", ".join(listed[:LISTED_PATHS]) + rest) or "none"


def _size(leaf: Tensor) -> str:
    return "(ragged)" if leaf.is_nested else str(tuple(leaf.shape))
