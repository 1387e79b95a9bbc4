"""Converts between element types of torch and of the `.graph` text, and tests their properties."""
import torch

_TEXT = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
    torch.bool: "bool",
}
_TORCH = {text: dtype for dtype, text in _TEXT.items()}

def element_type(dtype: torch.dtype) -> str | None:
    """Returns the text's name of a torch dtype, or None if unsupported (complex, quantised)."""
    return _TEXT.get(dtype)


def torch_dtype(element: str) -> torch.dtype:
    """Returns the torch dtype of an element type of the text."""
    return _TORCH[element]


def is_float(element: str) -> bool:
    return torch_dtype(element).is_floating_point


def bits(element: str) -> int:
    return 8 * torch_dtype(element).itemsize


def is_narrow_float(element: str) -> bool:
    """Tests for a 16-bit float. Formulas of several steps on such floats are computed in float32 and
    rounded once, as torch does."""
    return element in ("f16", "bf16")
