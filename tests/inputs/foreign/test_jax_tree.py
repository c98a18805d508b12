"""Functions in JAX on structured samples are differentiated by JAX, whatever the samples look like."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.inputs.foreign.jax_function import JaxFunction
from liegg.inputs.foreign.jax_tree import JaxTree

jax = pytest.importorskip("jax")
jnp = jax.numpy

DRAWN = np.random.default_rng(0)
POS, W = DRAWN.normal(size=(60, 4, 3)), DRAWN.random((60, 4)) + 0.5
MOVES = {"pos": liegg.Linear(3)}


@pytest.fixture(autouse=True)
def float64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def stretched(pos, w):
    """Invariant under rotations about the third axis, and nearly so under others."""
    return (jnp.sin(jnp.linalg.norm(pos, axis=-1)) * w + 1e-3 * jnp.square(pos[..., 2])).sum(-1)


def in_torch(pos, w):
    return (pos.norm(dim=-1).sin() * w + 1e-3 * pos[..., 2].square()).sum(-1)


class Sample(NamedTuple):
    pos: np.ndarray
    w: np.ndarray


def as_jax(tree):
    return jax.tree_util.tree_map(jnp.asarray, tree)


CASES = {  # made in float64
    "arrays": lambda: (stretched, {"pos": POS, "w": W}, MOVES),
    "jax arrays": lambda: (stretched, as_jax({"pos": POS, "w": W}), MOVES),
    "tuple": lambda: (liegg.foreign.from_jax(stretched), as_jax((POS, W)), {0: liegg.Linear(3)}),
    "record": lambda: (
        liegg.foreign.from_jax(lambda b: stretched(b.pos, b.w)),
        as_jax(Sample(POS, W)),
        MOVES,
    ),
    "list": lambda: (
        jax.jit(stretched),
        [{"pos": pos, "w": w} for pos, w in zip(POS, W, strict=True)],
        MOVES,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_derivatives_are_those_of_jax(case):
    model, data, moves = CASES[case]()
    sym = liegg.discover(model, data, moves)
    exact = liegg.discover(in_torch, {"pos": torch.tensor(POS), "w": torch.tensor(W)}, MOVES)
    assert Diagnosis.JAX_FUNCTION in {note.diagnosis for note in sym.notes}
    assert sym.settings["route"] == exact.settings["route"]  # not finite
    torch.testing.assert_close(sym.defects, exact.defects, rtol=1e-6, atol=1e-24)
    assert sym.decision.grades == exact.decision.grades


def clouds(pos, batch):
    sizes = jnp.zeros(int(batch.max()) + 1)  # it looks at a number, so that it cannot be compiled
    return sizes.at[batch].add(jnp.linalg.norm(pos, axis=1))


def test_joined_clouds_with_the_number_of_their_sample():
    data = [{"pos": jnp.asarray(POS[i, : 2 + i % 3])} for i in range(40)]
    sym = liegg.discover(clouds, data, MOVES)
    assert (sym.name, sym.settings["route"] != "finite") == ("so(3)", True)
    assert {Diagnosis.JAX_FUNCTION, Diagnosis.RAGGED_SAMPLES} <= {n.diagnosis for n in sym.notes}
    assert liegg.verify(clouds, data, sym).holds


def test_outputs_of_other_sizes_than_before():
    def edges(pos, index):  # one number per edge, whose number varies
        return jnp.square(pos[index[0]] - pos[index[1]]).sum(1)

    model = JaxTree(edges, JaxFunction(edges, "edges"))
    pos = torch.tensor(POS[0])
    for length in (2, 3, 2):
        index = torch.arange(2 * length).reshape(2, -1) % 4
        expected = (pos[index[0]] - pos[index[1]]).square().sum(1)
        torch.testing.assert_close(model(pos, index), expected)
    assert len(model.compiled) == 2


def test_fields_and_the_users_own_call():
    def fields(pos, z):
        energy = jnp.square(pos).sum((1, 2)) * z.sum(1)
        return {"energy": energy, "forces": 2 * pos * z.sum(1)[:, None, None], "kind": z}

    data = as_jax({"pos": POS, "z": np.arange(240).reshape(60, 4) % 5 + 1})
    forces = liegg.discover(
        fields, data, MOVES, output="forces", output_action=liegg.Linear(3, copies=4)
    )
    assert forces.nullity == 9, "they are linear in the positions"
    called = liegg.discover(
        fields, data, MOVES, call=lambda model, batch: model(batch["pos"], batch["z"])["energy"]
    )
    assert called.name == "so(3)"
    assert liegg.testing.equivariance_error(
        liegg.foreign.from_jax(lambda pos, z: fields(pos, z)["energy"]), data, "so(3)"
    ) < 1e-12  # fmt: skip


def test_a_function_that_leaves_jax_gets_finite_differences():
    def left(pos, w):
        return jnp.asarray(np.sin(np.linalg.norm(pos, axis=-1)).sum(1)) * w.sum(1)

    sym = liegg.discover(left, {"pos": POS, "w": W}, MOVES)
    assert (sym.name, sym.settings["route"]) == ("so(3)", "finite")


def test_functions_of_one_sample_are_told_to_use_the_vmap_of_jax():
    def norm(x):
        return jnp.tanh(jnp.asarray(np.eye(3)) @ x)

    for data in (POS[:, 0], jnp.asarray(POS[:, 0])):
        with pytest.raises(liegg.LieggError, match=r"pass jax.vmap\(model\)"):
            liegg.discover(norm, data, liegg.Linear(3))
    assert liegg.discover(jax.vmap(norm), POS[:, 0], liegg.Linear(3)).nullity == 0


def test_single_precision_is_that_of_jax():
    jax.config.update("jax_enable_x64", False)
    sym = liegg.discover(stretched, {"pos": POS, "w": W}, MOVES)
    assert Diagnosis.JAX_FUNCTION(dtype="float32") in sym.notes
    assert sym.nullity == 3
