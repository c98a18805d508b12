"""Questions at an inner point: known answers, an analysis by hand of what arrives, data in every form, errors."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, DataError, DtypeError, ModelError, ShapeError
from liegg.inputs.inner.arrive import arrive
from liegg.inputs.inner.rest import layer_name
from liegg.testing import assert_same_span

WORDS, LENGTH, WIDTH = 30, 4, 3


def tokens(count: int = 120, length: int = LENGTH, seed: int = 0) -> Tensor:
    drawn = torch.Generator().manual_seed(seed)
    return torch.randint(0, WORDS, (count, length), generator=drawn)


class Lengths(nn.Module):
    """Embeddings, of which only the lengths are used."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.table = nn.Embedding(WORDS, WIDTH).double()
            self.drop = nn.Dropout(0.5)
            self.head = nn.Linear(LENGTH, 2).double()

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.drop(self.table(ids)).square().sum(-1)).tanh()


class Reader(nn.Module):
    """A small text transformer with a padding mask that does not use the last feature of its tokens."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.tokens = nn.Embedding(WORDS, 5)
            self.places = nn.Embedding(LENGTH, 4)
            layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 1)
            self.head = nn.Linear(4, 2)

    def behind(self, e: Tensor, pad_mask: Tensor) -> Tensor:
        e = e[..., :4] + self.places(torch.arange(e.shape[1]))
        y = self.encoder(e, src_key_padding_mask=pad_mask)
        present = ~pad_mask[..., None]
        return self.head((y * present).sum(1) / present.sum(1))

    def forward(self, input_ids: Tensor, pad_mask: Tensor) -> dict[str, Tensor]:
        return {"logits": self.behind(self.tokens(input_ids), pad_mask)}


def padded(count: int = 120) -> dict[str, Tensor]:
    ids = tokens(count)
    sizes = 2 + torch.arange(count) % (LENGTH - 1)
    return {"input_ids": ids, "pad_mask": torch.arange(LENGTH) >= sizes[:, None]}


def test_lengths_of_embeddings_are_invariant_under_rotations():
    model = Lengths()
    sym = liegg.discover(
        model,
        tokens(),
        liegg.Linear(WIDTH, copies=LENGTH),
        at="embeddings",
        held_out=tokens(60, seed=5),
    )
    assert (sym.nullity, sym.name) == (3, "so(3)")
    assert sym.subject == "the output of Lengths behind 'embeddings'"
    assert sym.settings["at"] == "embeddings"
    assert sym.verification is not None
    assert sym.verification.holds
    (note,) = [note for note in sym.notes if note.diagnosis is Diagnosis.INNER_POINT]
    assert note.values == {"layer": "'table'", "shape": [LENGTH, WIDTH]}
    assert model.training
    assert not model.table._forward_hooks


def test_it_is_the_analysis_by_hand_of_what_arrives():
    model = Lengths()
    behind = lambda e: model.head(e.square().sum(-1)).tanh()  # noqa: E731
    x = model.table(tokens()).detach()
    action = liegg.Linear(WIDTH, copies=LENGTH)
    expected = liegg.discover(behind, x, action)
    sym = liegg.discover(model, tokens(), action, at="table")
    torch.testing.assert_close(sym.defects, expected.defects, rtol=1e-6, atol=1e-25)
    torch.testing.assert_close(
        sym.intervals, expected.intervals, rtol=0.5, atol=1e-20, equal_nan=True
    )
    assert sym.decision.grades == expected.decision.grades


def test_a_text_transformer_with_padding():
    """The last feature is not used: its scaling and the shears of it by others; padding is not moved."""
    model, data = Reader(), padded()
    sym = liegg.discover(model, data, liegg.Linear(5, copies=LENGTH), at="tokens")
    unused = torch.zeros(5, 5, 5, dtype=torch.float64)
    unused[range(5), 4, range(5)] = 1.0
    assert sym.decision.grades[:6].count("exact") == sym.nullity == 5
    assert_same_span(sym.generators, unused, tolerance=1e-5)
    assert Diagnosis.MASKED_POINTS in [note.diagnosis for note in sym.notes]


def test_the_transformer_by_hand():
    model, data = Reader().eval(), padded()
    action = liegg.Linear(5, copies=LENGTH)
    sym = liegg.discover(model, data, action, at="tokens", controls="none")
    x, mask = model.tokens(data["input_ids"]).detach(), data["pad_mask"]
    rows = []
    for c in range(2):
        leaf = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(model.behind(leaf, mask)[:, c].sum(), leaf)
        present = (~mask)[..., None]
        rows.append(torch.einsum("bki,bkj->bij", (slope * present).double(), x.double()))
    r = torch.stack(rows, 1).flatten(2).flatten(0, 1)
    direction = sym.accumulated.solution.directions[10]
    change = float((r @ direction).square().sum() / len(x))
    assert float(sym.accumulated.variance(direction[None])) == pytest.approx(change, rel=1e-3)


@pytest.mark.parametrize("batch_size", [7, 64])
def test_batches_of_any_size_give_the_same(batch_size):
    model, data = Reader(), padded(60)
    action, run = liegg.Linear(5, copies=LENGTH), liegg.Run(batch_size=batch_size)
    one = liegg.discover(model, data, action, at="tokens", controls="none", run=run)
    other = liegg.discover(model, data, action, at="tokens", controls="none")
    torch.testing.assert_close(one.defects[5:], other.defects[5:], rtol=1e-3, atol=0)


@dataclass
class Batch:
    ids: Tensor


@pytest.mark.parametrize(
    "data",
    [
        tokens().numpy(),
        TensorDataset(tokens(), torch.zeros(120)),
        DataLoader(TensorDataset(tokens()), batch_size=50),
        [tokens()[:50], tokens()[50:]],
        {"ids": tokens()},
        (tokens(),),
        Batch(tokens()),
        [{"ids": tokens()[:100]}, {"ids": tokens()[100:]}],
    ],
    ids=lambda data: type(data).__name__,
)
def test_data_in_every_form_arrives(data):
    inner = arrive(Lengths(), data, "table")
    torch.testing.assert_close(inner.data["activation"], Lengths().table(tokens()).detach())


def test_a_call_of_the_users():
    inner = arrive(Lengths(), {"a": tokens()}, "table", call=lambda model, batch: model(batch["a"]))
    assert inner.data["activation"].shape == (120, LENGTH, WIDTH)


def test_verify_and_about_ask_at_the_same_point():
    model = Lengths()
    sym = liegg.discover(model, tokens(), liegg.Linear(WIDTH, copies=LENGTH), at="table")
    assert liegg.verify(model, tokens(60, seed=3), sym).holds
    assert liegg.verify(
        model, tokens(60, seed=3), liegg.Linear(WIDTH, copies=LENGTH), liegg.so(3), at="table"
    ).holds
    with pytest.raises(ArgumentError, match="at='drop' was given"):
        liegg.verify(model, tokens(60), sym, at="drop")
    (answer,) = sym.about({"rotation": liegg.so(3)}, model=model, data=tokens(60, seed=4))
    assert answer.defect < 1e-20


def test_it_is_stored_and_compared(tmp_path):
    model, action = Lengths(), liegg.Linear(WIDTH, copies=LENGTH)
    sym = liegg.discover(model, tokens(), action, at="table")
    sym.save(tmp_path / "run")
    again = liegg.load(tmp_path / "run")
    assert again.subject == sym.subject
    assert str(again) == str(sym)
    assert liegg.verify(model, tokens(60, seed=3), again).holds
    other = liegg.discover(model, tokens(seed=9), action, at="table")
    assert "so(3)" in liegg.compare(sym, other).sentence


def test_the_reinitialised_control_runs():
    sym = liegg.discover(
        Lengths(),
        tokens(60),
        liegg.Linear(WIDTH, copies=LENGTH),
        at="table",
        controls="reinitialised",
        run=liegg.Run(control_draws=2),
    )
    assert sym.controls.reinitialised is not None
    assert float(sym.controls.reinitialised.along[:, :3].max()) < 1e-20  # it is built in


class Twice(Lengths):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids) + super().forward(ids)


class Never(Lengths):
    def forward(self, ids: Tensor) -> Tensor:
        return self.head(nn.functional.embedding(ids, self.table.weight).square().sum(-1))


class InPlace(Lengths):
    def forward(self, ids: Tensor) -> Tensor:
        e = self.table(ids)
        e.mul_(2.0)
        return self.head(e.square().sum(-1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        self.rnn = nn.LSTM(WIDTH, 2, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        return self.rnn(self.table(ids))[0][:, -1]


class Pair(nn.Module):
    """A layer that returns a tensor with something else, and a second table."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Embedding(WORDS, 2), nn.Embedding(WORDS, 2)
        self.mix = Mix()

    def forward(self, ids: Tensor) -> Tensor:
        return self.mix(self.one(ids) + self.other(ids))[0].square().sum(-1)


class Mix(nn.Module):
    def forward(self, e: Tensor) -> tuple[Tensor, str]:
        return e.tanh(), "text"


def test_what_is_written_in_place_is_what_arrived_before():
    action = liegg.Linear(WIDTH, copies=LENGTH)
    sym = liegg.discover(InPlace(), tokens(), action, at="table")
    assert (sym.nullity, sym.name) == (3, "so(3)")
    inner = arrive(InPlace(), tokens(), "table")
    torch.testing.assert_close(inner.data["activation"], InPlace().table(tokens()).detach())


def test_a_layer_that_returns_a_tensor_among_others():
    sym = liegg.discover(Pair(), tokens(), liegg.Linear(2, copies=LENGTH), at="mix")
    assert (sym.nullity, sym.name) == (1, "so(2)")


def test_compiled_models_are_asked_by_the_same_names():
    compiled = torch.compile(Lengths(), backend="eager")
    assert layer_name(compiled, "embeddings") == "table"
    part = Lengths()
    part.table = torch.compile(part.table, backend="eager")  # pyright: ignore[reportAttributeAccessIssue]
    for model in (compiled, part):
        inner = arrive(model, tokens(), "table")
        assert inner.layer == "table"
        assert inner.data["activation"].shape[1:] == (LENGTH, WIDTH)


class Own(Pair):
    def get_input_embeddings(self) -> nn.Module:
        return self.other


def test_the_word_for_embeddings():
    assert layer_name(Lengths(), "embeddings") == "table"
    assert layer_name(Own(), "embeddings") == "other"
    named = nn.Sequential()
    named.add_module("embeddings", nn.Linear(2, 2))
    named.add_module("table", nn.Embedding(3, 2))
    assert layer_name(named, "embeddings") == "table"
    pair = Pair()
    pair.add_module("embeddings", nn.Linear(2, 2))
    assert layer_name(pair, "embeddings") == "embeddings"


class Shared(Lengths):
    """Its input embeddings are a module that only gives its weights to another one, as in T5."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(WORDS, WIDTH).double()
        self.table.weight = self.shared.weight

    def get_input_embeddings(self) -> nn.Module:
        return self.shared


def test_a_layer_that_only_shares_its_weights_names_the_others():
    with pytest.raises(ModelError, match=r"is not called.*also those of 'table'"):
        arrive(Shared(), tokens(), "embeddings")
    assert arrive(Shared(), tokens(), "table").layer == "table"


@pytest.mark.parametrize(
    ("model", "data", "at", "error", "text"),
    [
        (Lengths(), tokens(), "tabel", ArgumentError, "Did you mean 'table'"),
        (lambda x: x, tokens(), "table", ArgumentError, "need an nn.Module"),
        (Pair(), tokens(), "embeddings", ArgumentError, "several embeddings.*'one', 'other'"),
        (nn.Linear(3, 2), tokens(), "embeddings", ArgumentError, "no nn.Embedding"),
        (Twice(), tokens(), "table", ModelError, "called several times"),
        (Never(), tokens(), "table", ModelError, "is not called"),
        (Recurrent(), tokens(), "rnn", ModelError, "expected one floating point tensor"),
        (Lengths(), {"other": tokens()}, "table", ModelError, "Say how it is called"),
        (Lengths(), {}, "table", DataError, "without tensors"),
        (Lengths(), "text", "table", DataError, "expected what the model takes"),
        (Lengths(), iter([tokens()]), "table", DataError, "only once"),
        (Lengths(), [], "table", DataError, "no sample"),
        (Lengths(), (tokens(), tokens(5)), "table", ShapeError, "one entry per sample"),
        (Reader(), [tokens(5), tokens(5, 3)], "tokens", ModelError, "does not take"),
        (Lengths(), {"ids": tokens(), "activation": tokens()}, "table", DataError, "Rename it"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(model: Any, data: Any, at: str, error: type, text: str):
    with pytest.raises(error, match=text):
        liegg.discover(model, data, liegg.Linear(3, copies=4), at=at)


def test_sequences_of_different_lengths_are_refused_with_advice():
    model = nn.Sequential(nn.Embedding(WORDS, 2), nn.Flatten(1), nn.LazyLinear(1))
    model(tokens())
    table = nn.Sequential(model[0], nn.Tanh())
    with pytest.raises(ShapeError, match="Pad all samples to one length"):
        arrive(table, [tokens(5), tokens(5, 3)], "0")


def test_integers_without_at_are_refused_with_advice():
    with pytest.raises(DtypeError, match="at='embeddings'"):
        liegg.discover(Lengths(), tokens(), liegg.Linear(LENGTH))
    with pytest.raises(DtypeError, match="at='embeddings'"):
        liegg.discover(Lengths(), {"ids": tokens()}, {"ids": liegg.Linear(LENGTH)})
    with pytest.raises(ArgumentError, match=r"no floating point tensor.*at='embeddings'"):
        liegg.discover(Lengths(), {"ids": tokens()}, liegg.Linear(LENGTH))
    with pytest.raises(ArgumentError, match="pass one action"):
        liegg.discover(Lengths(), tokens(), {"ids": liegg.Linear(3)}, at="table")


def test_too_many_activations_are_refused(monkeypatch):
    monkeypatch.setattr("liegg.inputs.inner.arrive.ACTIVATION_BYTES", 1000)
    with pytest.raises(ArgumentError, match="Pass fewer samples"):
        arrive(Lengths(), tokens(), "table")


def test_token_lists_of_different_lengths_are_to_be_padded():
    samples = [
        {"input_ids": tokens(1, n)[0], "pad_mask": torch.zeros(n, dtype=torch.bool)}
        for n in (2, 3, 4)
    ]
    with pytest.raises(ModelError, match=r"single axis.*padding=True"):
        arrive(Reader(), samples, "tokens")
