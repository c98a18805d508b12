"""Transformers of Hugging Face with random weights, asked at their embeddings; and a detector that returns a record."""
# ruff: noqa: S101

from collections.abc import Callable

import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    ViTConfig,
    ViTForImageClassification,
    YolosConfig,
    YolosForObjectDetection,
)

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg.testing import assert_same_span

WIDTH, TOKENS = 8, 9
SIZES = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "initializer_range": 0.5,  # the usual 0.02 makes a network that is nearly linear
}


def into_the_constant() -> Tensor:
    """Maps that write into the constant vector, which a layer norm removes: ones ⊗ v."""
    unit = torch.eye(WIDTH, dtype=torch.float64)
    return torch.ones(WIDTH, 1, dtype=torch.float64) * unit[:, None]


def test_a_text_transformer_ignores_the_constant_of_its_embeddings(discovered: Callable) -> None:
    """BERT normalises the sum of its embeddings, so that a constant added to a token changes nothing; padding stays."""
    model = BertForSequenceClassification(BertConfig(vocab_size=60, num_labels=4, **SIZES)).double()
    ids = torch.randint(0, 60, (200, TOKENS), generator=torch.Generator().manual_seed(0))
    lengths = 4 + torch.arange(200) % (TOKENS - 3)
    batch = {"input_ids": ids, "attention_mask": (torch.arange(TOKENS) < lengths[:, None]).long()}
    action = liegg.Linear(WIDTH, copies=TOKENS)
    sym = discovered("BERT at its embeddings", model, batch, action, at="embeddings")
    diagnoses = {note.diagnosis: note.values for note in sym.notes}
    assert "word_embeddings" in diagnoses[Diagnosis.INNER_POINT]["layer"]
    assert diagnoses[Diagnosis.OBVIOUS_FIELD]["field"] == "'logits'"
    assert Diagnosis.MASKED_POINTS in diagnoses
    assert sym.nullity == WIDTH
    assert_same_span(sym.generators, into_the_constant(), tolerance=1e-6)


def test_a_vision_transformer_ignores_the_constant_of_its_patches(discovered: Callable) -> None:
    """ViT normalises before every block and at its end, so that a constant added to a patch changes nothing."""
    config = ViTConfig(image_size=24, patch_size=8, num_labels=4, **SIZES)
    model = ViTForImageClassification(config).double()
    images = torch.randn(200, 3, 24, 24, generator=torch.Generator().manual_seed(0)).double()
    action = liegg.Linear(WIDTH, copies=TOKENS)
    sym = discovered("ViT at its patches", model, images, action, at="embeddings")
    assert sym.nullity == WIDTH
    assert_same_span(sym.generators, into_the_constant(), tolerance=1e-6)


def test_a_detector_returns_a_record(discovered: Callable) -> None:
    """YOLOS returns logits and boxes for every query; random weights have no symmetry in either."""
    config = YolosConfig(
        image_size=[32, 32], patch_size=8, num_detection_tokens=3, num_labels=2, **SIZES
    )
    model = YolosForObjectDetection(config)
    images = torch.randn(48, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    kernel = torch.ones(3, 1, 5, 5) / 25
    images = torch.nn.functional.conv2d(images, kernel, padding=2, groups=3) * 5
    plain = liegg.discover(model, images, liegg.Image("affine"), about=(), controls="none")
    notes = {note.diagnosis: note.values for note in plain.notes}
    assert notes[Diagnosis.OBVIOUS_FIELD]["field"] == "'logits'"
    sym = discovered("YOLOS, boxes", model, images, liegg.Image("affine"), output="pred_boxes")
    assert sym.subject == "'pred_boxes' of YolosForObjectDetection"
    assert sym.decision.grades.count("exact") + sym.decision.grades.count("strong") == 0
