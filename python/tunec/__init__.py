"""tunec: an autotuning compiler for tensor programs.

    import tunec
    model = tunec.compile("resnet50.onnx", trials=500)
    y = model(x)                                   # NumPy, torch, anything with DLPack

The compiler itself is loaded by the first call that needs it.
"""
from typing import TYPE_CHECKING

from ._compile import compile, load
from ._errors import (
    Cancelled,
    CopyWarning,
    DeviceError,
    Error,
    InputOutputError,
    InvalidArgument,
    NotCompiledWarning,
    NotFound,
    ParseError,
    ResourceLimit,
    Unsupported,
)
from ._library import TensorSpec

if TYPE_CHECKING:
    from ._native import Executable, Progress
    __version__: str

__all__ = ["Cancelled", "CopyWarning", "DeviceError", "Error", "Executable", "InputOutputError",
           "InvalidArgument", "NotCompiledWarning", "NotFound", "ParseError", "Progress",
           "ResourceLimit", "TensorSpec",
           "Unsupported", "compile", "load", "processors", "version"]


def processors() -> int:
    """Returns how many threads of this process can run at once, by CPU affinity and container
    quota."""
    from ._library import native
    return native().processors()


def version() -> str:
    """Returns the version of the compiler, such as "0.1.0"."""
    from ._library import native
    return native().version()


if not TYPE_CHECKING:  # for a type checker, other names are errors
    def __getattr__(name: str) -> object:
        if name == "__version__":
            return version()
        # These are classes of the native module, which is loaded at the first access.
        if name in ("Executable", "Progress"):
            from ._library import native
            return getattr(native(), name)
        raise AttributeError(f"module 'tunec' has no attribute {name!r}")
