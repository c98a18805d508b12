"""Models that are not PyTorch: functions of arrays, estimators, JAX, ONNX, and the protocol behind them."""

from liegg.inputs.foreign.arrays import from_arrays
from liegg.inputs.foreign.jax_function import from_jax
from liegg.inputs.foreign.onnx_file import from_onnx
from liegg.inputs.foreign.protocol import ForeignModel

__all__ = ["ForeignModel", "from_arrays", "from_jax", "from_onnx"]
