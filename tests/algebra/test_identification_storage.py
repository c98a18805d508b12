"""Identifications that are stored and read back: equal bit for bit, and nothing is computed."""

import dataclasses
import json
import math

import pytest
import torch

from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import Identification, identify, se, sl, so, sp, u
from liegg.algebra.closure import Closure
from liegg.algebra.identification_storage import (
    identification_from_record,
    identification_to_record,
)
from liegg.algebra.identify import unseen
from liegg.algebra.words.readable import Readable

LINEAR_ALGEBRA = [
    name for name in dir(torch.linalg) if callable(getattr(torch.linalg, name)) and name[0] != "_"
]


def stretched(generators):
    frame = regular(generators.shape[1], condition=5.0)
    return frame @ generators @ torch.linalg.inv(frame)


def every():
    """Identifications of every kind: exact, noisy, affine, by structure alone, unknown, empty, too large."""
    yield identify(so(1, 3), coordinates=("t", "x", "y", "z"))
    yield identify(stretched(so(3)) + 1e-3 * normal(3, 3, 3), uncertainty=3e-3)
    yield identify(stretched(sp(4)))
    yield identify(se(2), homogeneous=True)
    yield identify(torch.cat([sl(2), sl(2)]))  # dependent ones: a note
    yield identify(u(2))
    yield identify(normal(1, 3, 3))
    yield identify(normal(3, 3, 3))
    yield identify(torch.zeros(1, 3, 3))
    yield unseen(4, 1000)


def same(one, other):
    """Whether two records are equal bit for bit, tensors and NaN among them."""
    if isinstance(one, Identification | Closure | Readable):
        fields = [field.name for field in dataclasses.fields(one)]
        fields += ["metric", "readable"] if isinstance(one, Identification) else []
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in fields
        )
    if isinstance(one, torch.Tensor):
        kind = {torch.float64: torch.int64}[one.dtype]
        return torch.equal(one.contiguous().view(kind), other.contiguous().view(kind))
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return one == other


def forbidden(*_, **__):
    raise AssertionError("linear algebra while a stored identification is read or printed")


def test_what_was_stored_comes_back_and_nothing_is_computed(monkeypatch):
    originals = list(every())
    records = [identification_to_record(found) for found in originals]
    texts = [(str(found), found.title(), repr(found)) for found in originals]
    dictionaries = [repr(found.to_dict()) for found in originals]
    for name in LINEAR_ALGEBRA:
        monkeypatch.setattr(torch.linalg, name, forbidden)
    for name in ("einsum", "matmul", "bmm", "svd", "qr", "inverse", "det"):
        monkeypatch.setattr(torch, name, forbidden)
    for name in ("matmul", "__matmul__", "norm", "svd", "qr", "inverse", "det"):
        monkeypatch.setattr(torch.Tensor, name, forbidden)
    for found, (record, tensors), text, dictionary in zip(
        originals, records, texts, dictionaries, strict=True
    ):
        stored = json.loads(json.dumps(record, allow_nan=False))
        back = identification_from_record(stored, tensors)
        assert same(found, back), found.name
        assert (str(back), back.title(), repr(back)) == text
        assert repr(back.to_dict()) == dictionary


def test_tensors_can_be_written_to_one_file():
    for found in every():
        _, tensors = identification_to_record(found)
        assert all(tensor.is_contiguous() for tensor in tensors.values())
        places = [tensor.data_ptr() for tensor in tensors.values() if tensor.numel()]
        assert len(set(places)) == len(places), found.name


def test_remarks_keep_their_member():
    remark = Diagnosis.TEXT(text="as it was")
    found = dataclasses.replace(identify(so(3)), notes=(remark,))
    back = identification_from_record(*identification_to_record(found))
    assert back.notes == ("as it was",)
    assert [reason.diagnosis for reason in back.reasons] == [
        Diagnosis.CLOSED,
        Diagnosis.PRESERVES,
        Diagnosis.FITS_EXACTLY,
    ]
    assert [reason.values for reason in back.reasons] == [reason.values for reason in found.reasons]


def test_a_missing_tensor_is_an_error():
    record, tensors = identification_to_record(identify(so(3)))
    del tensors["readable.generators"]
    with pytest.raises(KeyError, match="readable"):
        identification_from_record(record, tensors)
