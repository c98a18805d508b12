"""Load models named on the command line: a factory, an ONNX file, or an exported program that the user trusts."""

import importlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from liegg._utils.errors import ArgumentError
from liegg._utils.random import seeded
from liegg.cli.state import load_state, without_prefix
from liegg.inputs.foreign import ForeignModel, from_onnx
from liegg.inputs.foreign.estimator import is_estimator

FACTORY_WEIGHTS = (
    "no --weights: the model is analysed with the weights that its factory gives it (under seed 0)."
)

COMPLETE = {".pt2": "an exported program", ".onnx": "an ONNX file"}
"""Files that hold a model with its weights."""


def load_model(
    text: str,
    weights: Path | None = None,
    device: str | None = None,
    *,
    trusted: bool = False,
    say: Callable[[str], object] = str,
) -> Any:
    """Load a model from `package.module:factory`, from an ONNX file, or from an exported program `model.pt2`.

    Args:
        text: the factory is called without arguments; a `torch.nn.Module` is used directly.
        weights: safetensors file, or a state dict in a .pt, .pth or .ckpt file; names and shapes must match the module, except
            for prefixes such as `module.`.
        device: where to put the module; None leaves it where it is.
        trusted: whether an exported program may be read, which can run code that it holds.
        say: receives a sentence about anything that was changed.

    Raises:
        ArgumentError: the program is not trusted, the name does not exist, the factory fails, or the weights do not fit.
    """
    if device is not None:
        check_device(device)
    suffix = Path(text).suffix
    if weights is not None and (own := COMPLETE.get(suffix)):
        raise ArgumentError(f"--weights needs a factory; {own} has weights of its own.")
    if suffix == ".pt2":
        if not trusted:
            raise ArgumentError(
                f"model {text!r}: reading an exported program can run code that the file holds. Pass "
                "--trust-model if you know where it comes from; or name a factory, package.module:factory."
            )
        model: Any = _load_program(Path(text))
    elif suffix == ".onnx":
        model = from_onnx(text)
    else:
        with seeded(0):  # a factory with random weights gives the same ones every time
            model = _call_factory(text)
    for option, value in (("--weights", weights), ("--device", device)):
        if value is not None and not isinstance(model, torch.nn.Module):
            raise ArgumentError(
                f"{option} needs a torch.nn.Module; {text} gave a {type(model).__name__}. Do it in "
                "the factory instead."
            )
    if weights is not None:
        _load_weights(model, text, weights, say)
    return model if device is None else model.to(device)


def uses_factory_weights(model: Any, weights: Path | None) -> bool:
    """Whether a module is analysed with the weights that its factory gave it."""
    return (
        weights is None
        and isinstance(model, torch.nn.Module)
        and any(True for _ in model.parameters())
    )


def check_device(name: str) -> None:
    """Raise `ArgumentError` unless torch can compute on the device of this name here."""
    try:
        float(torch.zeros(1, device=name))  # fails on devices without memory, such as meta
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ArgumentError(
            f"device {name!r} cannot be used here: {reason}. Type --device cpu, or a device that "
            "torch has here."
        ) from error


def _load_weights(
    model: torch.nn.Module, text: str, weights: Path, say: Callable[[str], object]
) -> None:
    state, remarks = without_prefix(load_state(weights), set(model.state_dict()))
    for remark in remarks:
        say(f"--weights {weights}: {remark}")
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ArgumentError(f"weights {str(weights)!r} do not fit {text}: {reason}") from error


def _load_program(path: Path) -> torch.export.ExportedProgram:
    if not path.is_file():
        raise ArgumentError(
            f"model {str(path)!r}: file not found. Make one with torch.export.save."
        )
    logger = logging.getLogger("torch.export")
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)  # torch would print a traceback next to our message
        return torch.export.load(path)
    except Exception as error:  # torch raises many types for a file that is not a program
        raise ArgumentError(
            f"model {str(path)!r} is not an exported program: {error}. Make one with torch.export.save."
        ) from error
    finally:
        logger.setLevel(level)


def _call_factory(text: str) -> Any:
    place, _, name = text.partition(":")
    if not place or not name:
        is_weights = Path(text).suffix in (".pt", ".pth", ".safetensors")
        hint = " Pass weights with --weights." if is_weights else ""
        raise ArgumentError(
            f"model {text!r}: expected package.module:factory, or a file model.onnx or model.pt2.{hint}"
        )
    factory = _import(text, place, name)
    if isinstance(factory, torch.nn.Module):
        return factory
    if not callable(factory):
        raise ArgumentError(
            f"model {text!r} is of type {type(factory).__name__}; expected a function without "
            "arguments that returns the model."
        )
    try:
        model = factory()
    except Exception as error:
        raise ArgumentError(
            f"model {text!r}: the factory failed with {type(error).__name__}: {error}. It is called "
            "without arguments and returns the model; wrap a plain function: "
            "def build(): return function"
        ) from error
    if not (callable(model) or isinstance(model, ForeignModel) or is_estimator(model)):
        raise ArgumentError(
            f"model {text!r}: the factory returned a {type(model).__name__}; expected a module or a "
            "function of a batch."
        )
    return model


def _import(text: str, place: str, name: str) -> Any:
    """Import a name of a module, which may lie in the current folder as for `python -m`."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError as error:
        dotted = place.removesuffix(".py").replace("/", ".")
        hint = f" Type the name of the module: {dotted}:{name}." if dotted != place else ""
        raise ArgumentError(
            f"model {text!r}: there is no module {error.name!r}; searched {here} and the installed "
            f"packages.{hint}"
        ) from error
    except Exception as error:  # whatever the user's module raises
        raise ArgumentError(
            f"model {text!r}: importing {place!r} failed with {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, name):
        raise ArgumentError(f"model {text!r}: module {place!r} has no {name!r}.")
    return getattr(module, name)
