"""Prepares weights that executables read in place."""
import sys
from collections.abc import Mapping
from typing import Any


def held(weights: Mapping[str, object]) -> dict[str, object]:
    """Returns the weights by name, as objects whose memory remains valid while they exist. Arrays
    need no change, because the native module holds their buffers. A torch tensor is replaced by an
    alias; if it is on the CPU, its storage can no longer be resized."""
    torch = sys.modules.get("torch")
    if torch is None:
        return dict(weights)
    return {name: _pinned(torch, weight) if isinstance(weight, torch.Tensor) else weight
            for name, weight in dict(weights).items()}


def _pinned(torch: Any, tensor: Any) -> object:
    same = tensor.detach()
    if same.device.type == "cpu":
        # torch forbids resizing a storage of which a NumPy array was made.
        torch.empty(0, dtype=torch.uint8).set_(same.untyped_storage()).numpy()
    return same
