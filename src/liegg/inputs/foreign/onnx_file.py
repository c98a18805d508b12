"""ONNX files and sessions of onnxruntime: derivatives are finite differences, or those of a conversion to torch."""

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

LARGEST_FILE = 2**31
"""Most bytes of an ONNX file: its format ends there."""


class OnnxSession(ForeignModel):
    """A session of onnxruntime with one floating point input."""

    def __init__(self, session: Any, name: str, reason: str = ""):
        self.session, self.name = session, name
        inputs = session.get_inputs()
        floating = [one for one in inputs if one.type in INPUT_TYPES]
        if len(inputs) != 1 or len(floating) != 1:
            listed = ", ".join(f"{one.name!r} {one.type}" for one in inputs)
            raise ModelError(
                f"{name} has the inputs {listed}; expected one floating point input. Wrap it in a "
                "function of that input: lambda x: session.run(None, {...})[0]."
            )
        self.input = inputs[0]
        self.outputs = [one.name for one in session.get_outputs()]
        self.precision = INPUT_TYPES[self.input.type]
        note = Diagnosis.ONNX_NOT_CONVERTED(reason=reason) if reason else Diagnosis.ONNX_RUNTIME()
        self.notes = (note,)

    def evaluate(self, x: np.ndarray) -> Any:
        """Outputs of a batch: an array, or a mapping from names to arrays if there are several."""
        returned = self.session.run(None, {self.input.name: x})
        if len(returned) == 1:
            return returned[0]
        return dict(zip(self.outputs, returned, strict=True))


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
    except ImportError as error:
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
    except ImportError as error:
        raise MissingExtraError(
            "exact derivatives of ONNX files need onnx2torch. Install it with: pip install onnx2torch"
        ) from error
    # Weights in other files are left to onnxruntime, which looks only beside the model.
    module = onnx2torch.convert(onnx.load(str(path), load_external_data=False)).eval()
    module.__class__.__name__ = f"{path.name} (converted to torch)"
    return module
