"""Loads the native module, which contains the compiler."""
from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType


class TensorSpec:
    """The `name`, `dtype` (in NumPy's spelling) and `shape` of an input or output."""

    __slots__ = ("name", "dtype", "shape")

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        self.name, self.dtype, self.shape = name, dtype, shape

    def __repr__(self) -> str:
        return f"TensorSpec({self.name!r}, {self.dtype!r}, {self.shape!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.name, self.dtype, self.shape) == (other.name, other.dtype, other.shape)


# Name under which the native module is also stored in sys.modules. The package may be removed from
# sys.modules and imported again, but a C++ module can be loaded only once per process.
_LOADED = "_tunec_native"


@functools.cache
def native() -> ModuleType:
    """Loads the native module, and with it the compiler, at the first use."""
    module = sys.modules.get(_LOADED)
    if module is None:
        from . import _native
        module = sys.modules[_LOADED] = _native
    _complete(module.Executable)
    return module


def _complete(executable: Any) -> None:
    """Adds properties whose values are objects of Python classes, and the text of repr()."""
    executable.inputs = property(lambda self: [TensorSpec(*spec) for spec in self._inputs],
                                 doc="A TensorSpec for each input.")
    executable.outputs = property(lambda self: [TensorSpec(*spec) for spec in self._outputs],
                                  doc="A TensorSpec for each output.")
    executable.report = property(lambda self: json.loads(self._report),
                                 doc="Results of compiling as a dict; docs/reference/json.md lists the keys.")
    executable.__repr__ = lambda self: (
        "<tunec.Executable " + ", ".join(f"{spec.name}: {spec.dtype}{list(spec.shape)}"
                                         for spec in self.inputs) + ">")
