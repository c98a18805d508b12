"""Records as JSON values."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

from torch import Tensor


def json_values(value: Any) -> Any:
    """Records, tensors, tuples and numbers as JSON values; NaN and infinities become null.

    >>> import torch
    >>> json_values({"values": torch.tensor([1.0, torch.inf]), "pair": (1, "a")})
    {'values': [1.0, None], 'pair': [1, 'a']}
    """
    if isinstance(value, Tensor):
        return json_values(value.tolist())
    if isinstance(value, dict):
        return {key: json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, str):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
