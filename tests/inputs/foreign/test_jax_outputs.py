"""Functions in JAX of plain arrays that return several arrays are differentiated by JAX, as those that return one."""

import numpy as np
import pytest

import liegg
from liegg._utils.diagnoses import Diagnosis

jax = pytest.importorskip("jax")
jnp = jax.numpy

X = np.random.default_rng(0).normal(size=(60, 3))


def fields(x):
    radius = jnp.square(x).sum(1)
    return {"logits": jnp.exp(-radius), "aux": {"first": x[:, 0], "unit": (jnp.tanh(x), radius)}}


@pytest.mark.parametrize(
    ("output", "name", "nullity"),
    [
        (None, "so(3)", 3),
        ("logits", "so(3)", 3),
        ("aux.unit.1", "so(3)", 3),
        ("aux.unit.0", "0", 0),
    ],
)
def test_a_field_has_exact_derivatives(output, name, nullity):
    sym = liegg.discover(fields, X, liegg.Linear(3), output=output, controls="none")
    assert Diagnosis.JAX_FUNCTION in {note.diagnosis for note in sym.notes}
    assert (sym.settings["route"], sym.name, sym.nullity) == ("vjp", name, nullity)
    assert set(sym.decision.grades[:nullity]) <= {"exact"}


def test_a_field_may_move_with_the_input():
    sym = liegg.discover(
        lambda x: {"vector": x * jnp.exp(-jnp.square(x).sum(1, keepdims=True))},
        X,
        liegg.Linear(3),
        output_action=liegg.Linear(3),
        controls="none",
    )
    assert (sym.name, set(sym.decision.grades[:3])) == ("so(3)", {"exact"})


def test_a_function_that_leaves_jax_gets_finite_differences():
    def outside(x):
        return {"logits": jnp.asarray(np.exp(-np.square(np.asarray(x)).sum(1)))}

    sym = liegg.discover(outside, X, liegg.Linear(3), controls="none")
    assert (sym.settings["route"], sym.name) == ("finite", "so(3)")
