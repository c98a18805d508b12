"""ONNX files and sessions of onnxruntime: derivatives are finite differences, or those of a conversion to torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, MissingExtraError, ModelError, one_line
from liegg.inputs.foreign.protocol import ForeignModel

INPUT_TYPES = {
    "tensor(float)": torch.float32,
    "tensor(double)": torch.float64,
    "tensor(float16)": torch.float16,
}
"""Types of inputs that can be moved."""

ARRAY_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
"""Types in which inputs by name are passed."""

LARGEST_FILE = 2**31
"""Most bytes of an ONNX file: its format ends there."""


class OnnxSession(ForeignModel):
    """A session of onnxruntime with a floating point input, or with several inputs by name."""

    no_batch = "Export it with a first axis of any length (dynamic_axes or dynamic_shapes)."

    def __init__(self, session: Any, name: str, reason: str = ""):
        self.session, self.name = session, name
        self.inputs = {one.name: one.type for one in session.get_inputs()}
        floating = [name for name, kind in self.inputs.items() if kind in INPUT_TYPES]
        if not floating:
            raise ModelError(
                f"{name} has the inputs {self._listed()}; expected a floating point one, which can be moved."
            )
        self.outputs = [one.name for one in session.get_outputs()]
        self.precision = INPUT_TYPES[self.inputs[floating[0]]]
        note = Diagnosis.ONNX_NOT_CONVERTED(reason=reason) if reason else Diagnosis.ONNX_RUNTIME()
        self.notes = (note,)

    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch: an array, or a mapping from names to arrays if there are several."""
        if len(self.inputs) > 1:
            first = next(iter(self.inputs))
            raise ModelError(
                f"{self.name} has the inputs {self._listed()}, and samples are single tensors. Pass a dictionary of "
                f"all of them, with the one that moves, for example action={{{first!r}: liegg.Linear(3)}}."
            )
        return self.evaluate_named(x)

    def evaluate_named(self, *given: Any, **named: np.ndarray) -> Any:
        """Outputs for inputs by name, in a mapping of them, or in their order."""
        if len(given) == 1 and isinstance(given[0], Mapping):
            named = dict(given[0])
        elif given:
            named = dict(zip(self.inputs, given, strict=True))
        missing = [name for name in self.inputs if name not in named]
        if missing:
            raise ModelError(
                f"{self.name} has the inputs {self._listed()}; a sample has no {missing[0]!r}."
            )
        fed = {
            name: named[name].astype(ARRAY_TYPES.get(kind, named[name].dtype))
            for name, kind in self.inputs.items()
        }
        returned = self.session.run(None, fed)
        if len(returned) == 1:
            return returned[0]
        return dict(zip(self.outputs, returned, strict=True))

    def _listed(self) -> str:
        return ", ".join(f"{name!r} {kind}" for name, kind in self.inputs.items())


@checked()
def from_onnx(path: str | Path, *, how: Literal["auto", "runtime", "torch"] = "auto") -> Any:
    """A model from an ONNX file; install with `pip install 'liegg[onnx]'`.

    Args:
        path: the file. It is data: nothing in it is executed except the operators of ONNX.
        how: `"torch"` converts it by onnx2torch, which gives exact derivatives; `"runtime"` evaluates
            it by onnxruntime, with finite differences; `"auto"` converts where onnx2torch is
            installed and can, and the result says which it was.

    Returns:
        A module of torch, or a model that `liegg.discover` takes like one.

    Raises:
        MissingExtraError: the packages are not installed.
        ArgumentError: there is no such file, or it is not ONNX.
    """
    path = Path(path)
    check_file(path)
    reason = ""
    if how != "runtime":
        try:
            return _converted(path)
        except MissingExtraError:
            if how == "torch":
                raise
            reason = "onnx2torch is not installed"
        except Exception as error:  # whatever onnx2torch cannot do, onnxruntime can
            if how == "torch":
                raise ArgumentError(
                    f"{str(path)!r} cannot be converted to torch: {one_line(error)}. Use how='runtime'."
                ) from error
            reason = one_line(error)
    return OnnxSession(_session(path), path.name, reason)


def check_file(path: Path) -> None:
    """Raise `ArgumentError` unless a file can be an ONNX model."""
    if not path.is_file():
        raise ArgumentError(f"model {str(path)!r}: there is no such file.")
    size = path.stat().st_size
    if not 0 < size < LARGEST_FILE:
        raise ArgumentError(
            f"model {str(path)!r} has {size} bytes; expected an ONNX file of 1 to {LARGEST_FILE} bytes."
        )


def is_session(model: Any) -> bool:
    """Whether a model is a session of onnxruntime.

    >>> is_session(is_session)
    False
    """
    methods = ("run", "get_inputs", "get_outputs")
    home = type(model).__module__.partition(".")[0]
    return home == "onnxruntime" and all(hasattr(model, name) for name in methods)


def _session(path: Path) -> Any:
    try:
        import onnxruntime  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise  # it is installed, and something that it needs is not
        raise MissingExtraError(
            "ONNX files need onnxruntime. Install it with: pip install 'liegg[onnx]'"
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised; its log would go to the terminal
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime raises types of its own for damaged files
        raise ArgumentError(
            f"model {str(path)!r} is not an ONNX model that onnxruntime can run: {one_line(error)}."
        ) from error


def _converted(path: Path) -> Any:
    """The module that onnx2torch makes."""
    try:
        import onnx  # pyright: ignore[reportMissingImports]
        import onnx2torch  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnx2torch"):
            raise  # they are installed, and something that they need is not
        raise MissingExtraError(
            "exact derivatives of ONNX files need onnx2torch. Install it with: pip install onnx2torch"
        ) from error
    # Weights in other files are left to onnxruntime, which looks only beside the model.
    module = onnx2torch.convert(onnx.load(str(path), load_external_data=False)).eval()
    module.__class__.__name__ = f"{path.name} (converted to torch)"
    return module
