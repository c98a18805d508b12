"""Rules for norms and attention: the derivatives that torch's own formulas give, one direction or many."""

import pytest
import torch
from torch import nn
from torch.func import vmap
from torch.nn import functional

from cases import normal
from liegg._utils import forward_rules
from liegg._utils.forward_mode import differentiable_attention, jvp

Q = normal(2, 3, 5, 4)
WEIGHT, BIAS, WEIGHTS = normal(4), normal(4, seed=1), normal(5, 4)
MASK, CAUSAL = normal(5, 5, seed=7), torch.ones(5, 5, dtype=torch.bool).tril()
SIGHTLESS = CAUSAL.clone().fill_diagonal_(False)  # the first query sees nothing


def attend(q, k, v, **options):
    return functional.scaled_dot_product_attention(q, k, v, **options)


def layer(kind: str):
    torch.manual_seed(0)
    if kind == "heads":
        heads = nn.MultiheadAttention(4, 2, batch_first=True).double().eval()
        heads.requires_grad_(False)
        return lambda x: heads(x[0], x[0].sin(), x[0], need_weights=False)[0]
    encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double().eval()
    encoder.requires_grad_(False)
    return lambda x: encoder(x[0], src_mask=~CAUSAL)


ENCODER = layer("encoder")


def energy(x):
    return ENCODER(x).sin().sum()


FUNCTIONS = {
    "attention": lambda x: attend(x, x.tanh(), x.sin()),
    "queries": lambda x: attend(x, Q, Q, scale=0.3),
    "keys": lambda x: attend(Q, x, Q, attn_mask=MASK),
    "values": lambda x: attend(Q, Q, x, attn_mask=CAUSAL),
    "causal": lambda x: attend(x, x, x, is_causal=True),
    "nothing seen": lambda x: attend(x, x.cos(), x, attn_mask=SIGHTLESS),
    "mask that moves": lambda x: attend(Q, Q, x, attn_mask=x.mean(3, keepdim=True).expand(2, 3, 5, 5)),
    "fewer axes": lambda x: attend(x, x[0, 0], x),
    "heads": layer("heads"),
    "encoder": ENCODER,
    "vmap of its own": vmap(lambda x: attend(x, x.tanh(), x)),
    "norm": lambda x: functional.layer_norm(x.square(), (4,), WEIGHT, BIAS),
    "norm of two axes": lambda x: functional.layer_norm(x, (5, 4), WEIGHTS),
    "norm without weights": lambda x: functional.layer_norm(x, (4,), eps=0.1),
    "norm whose weights move": lambda x: functional.layer_norm(x, (4,), x.mean((0, 1, 2)) + 2),
    "weights that are trained": nn.LayerNorm(4).double(),
    "derivative inside": lambda x: torch.func.jvp(energy, (x,), (Q,))[1],
    "gradient inside": torch.func.grad(energy),
    "norm in a vmap": vmap(lambda x: functional.layer_norm(x, (4,))),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_the_general_formulas(name, monkeypatch):
    function, tangents = FUNCTIONS[name], normal(4, *Q.shape, seed=3)
    close = {"rtol": 1e-11, "atol": 1e-12, "equal_nan": False}
    with torch.no_grad(), differentiable_attention():
        known = [torch.func.jvp(function, (Q,), (tangent,)) for tangent in tangents]
        one = jvp(function, Q, tangents[0])
        torch.testing.assert_close(one[0], known[0][0].nan_to_num(0.0), **close)
        for together in (1, 300, 2**20):  # directions one by one, a few, and all at once
            monkeypatch.setattr(forward_rules, "MAX_BATCHED", together)
            y, slopes = vmap(lambda one: jvp(function, Q, one))(tangents)
            torch.testing.assert_close(y[0], one[0], **close)
            expected = torch.stack([pair[1] for pair in known]).nan_to_num(0.0)
            torch.testing.assert_close(slopes, expected, **close)
            torch.testing.assert_close(one[1], slopes[0], **close)


def rules_used(function, x, monkeypatch) -> set[str]:
    """Names of the rules by which a function is differentiated."""
    used = set()
    for name in ("attention_tangent", "layer_norm_tangent"):
        plain = getattr(forward_rules, name)

        def tangent(*args, name=name, plain=plain, **options):
            used.add(name)
            return plain(*args, **options)

        monkeypatch.setattr(forward_rules, name, tangent)
    with torch.no_grad(), differentiable_attention():
        jvp(function, x, torch.ones_like(x))
    return used


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("attention", {"attention_tangent"}),
        ("heads", {"attention_tangent"}),
        ("encoder", {"attention_tangent", "layer_norm_tangent"}),
        ("norm", {"layer_norm_tangent"}),
        ("mask that moves", set()),
        ("norm whose weights move", set()),
        ("vmap of its own", set()),
    ],
)
def test_which_functions_have_rules(name, known, monkeypatch):
    assert rules_used(FUNCTIONS[name], Q, monkeypatch) == known


@pytest.mark.parametrize("name", ["attention", "norm"])
def test_half_precision_is_left_to_torch(name, monkeypatch):
    plain = {"attention": lambda x: attend(x, x, x), "norm": nn.LayerNorm(4).half()}
    assert rules_used(plain[name], Q.half(), monkeypatch) == set()


def test_dropout_is_left_to_torch(monkeypatch):
    assert rules_used(lambda x: attend(x, x, x, dropout_p=0.5), Q, monkeypatch) == set()
