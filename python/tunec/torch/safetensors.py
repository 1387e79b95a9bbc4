"""Writes a `.safetensors` file: the header's length in eight bytes, a JSON header, the data."""
import json
import os
from collections.abc import Mapping
from typing import Any

import torch

from .element_types import element_type

_ALIGNMENT = 64  # the data begins at a multiple of this many bytes, so that tensors can be mapped


def _bytes_of(tensor: torch.Tensor) -> Any:
    dense = tensor.detach().cpu().contiguous().flatten()
    return dense.view(torch.uint8).numpy() if dense.numel() else b""


def write_safetensors(path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor]) -> None:
    """Writes tensors by name. The widest types come first, so that each tensor is aligned."""
    ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
    header, offset = {}, 0
    for name, tensor in ordered:
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": str(element_type(tensor.dtype)).upper(), "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    partial = f"{path}.partial"
    with open(partial, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in ordered:
            file.write(_bytes_of(tensor))
    os.replace(partial, path)
