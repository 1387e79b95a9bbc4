# Types of the native module (python/native/module.cc). _library.py adds some properties of Executable.
# tests/python/test_types.py compares this file with the names and parameters of the module.
from collections.abc import Callable
from typing import Any

from ._library import TensorSpec

class Progress:
    """Progress of tuning."""

    @property
    def tasks(self) -> int:
        """distinct kernels to tune"""
    @property
    def tasks_timed(self) -> int:
        """tasks with a correct trial"""
    @property
    def trials(self) -> int:
        """trials counted by the budget, including those of earlier runs"""
    @property
    def budget(self) -> int:
        """the option trials"""
    @property
    def measured(self) -> int:
        """trials of this call"""
    @property
    def elapsed_seconds(self) -> float: ...
    @property
    def model_seconds(self) -> float | None:
        """sum of the best kernel times; None while some are unknown"""

class Executable:
    """A compiled model. Call it with its inputs."""

    def __call__(self, *inputs: object, out: object = None, **named: object) -> Any: ...
    def profile(self, *inputs: object, out: object = None,
                **named: object) -> tuple[Any, list[tuple[str, float]]]:
        """Runs once and returns (outputs, [(name of the step, seconds), ...])."""
    def wait_tuning(self, timeout: float | None = None) -> bool:
        """Waits at most `timeout` seconds (None: no limit) for the end of tuning in the background.
        Returns True if tuning has ended. Raises the error that ended tuning."""
    def stop_tuning(self) -> None:
        """Ends tuning in the background. The executable keeps its current code."""
    @property
    def inputs(self) -> list[TensorSpec]:
        """A TensorSpec for each input."""
    @property
    def outputs(self) -> list[TensorSpec]:
        """A TensorSpec for each output."""
    @property
    def report(self) -> dict[str, Any]:
        """Results of compiling as a dict; docs/reference/json.md lists the keys."""
    @property
    def notes(self) -> str:
        """Hints on how the model runs on its GPU, one per line."""
    @property
    def outside_indices(self) -> int:
        """Number of out-of-range gather indices in all runs; they were clamped."""
    @property
    def other_layouts(self) -> list[dict[str, str]]:
        """Input layouts of earlier calls for which the model was compiled again."""
    @property
    def _inputs(self) -> list[tuple[str, str, tuple[int, ...]]]: ...
    @property
    def _outputs(self) -> list[tuple[str, str, tuple[int, ...]]]: ...
    @property
    def _report(self) -> str: ...

class Graph:
    """A graph that is built value by value. Values have numbers, in their order. An error of the
    compiler is raised as a subclass of tunec.Error."""

    def __init__(self, name: str) -> None: ...
    def add_input(self, name: str, type: str) -> int:
        """Adds an input of a type such as "f32[n, 3*h + 1]"."""
    def add_weight(self, name: str, type: str, key: str) -> int:
        """Adds a weight, whose elements `compile` receives by `key`."""
    def add_constant(self, name: str, type: str, elements: str) -> int:
        """Adds a constant. `elements`: a text such as "[1, 2.5]"."""
    def add_node(self, op: str, operands: list[int | None], attributes: str, name: str) -> int:
        """Adds a node. An operand is a value's number, or None if it is omitted. `attributes`: a text
        such as "axes=[1], keepdims=0"."""
    def add_output(self, name: str, value: int) -> None: ...
    def type(self, value: int) -> tuple[str, tuple[int | str, ...]]:
        """Returns the element type and the shape. A size is a number or the text of an expression."""
    def text(self) -> str:
        """Returns the text of the graph."""
    def conditions(self) -> list[str]:
        """Returns the conditions on named sizes, such as "n == 2*m", "3 <= h + 2" and "n is 1 or
        m"."""
    def compile(self, weights: dict[str, object], options: str,
                progress: Callable[[Progress], object] | None,
                log: Callable[[str], object] | None) -> Executable:
        """Compiles the graph. `weights`: tensors by key, which the executable retains."""

def sizes_are_equal(one: str, other: str) -> bool: ...
def compile_file(path: str, options: str, progress: Callable[[Progress], object] | None,
                 log: Callable[[str], object] | None) -> Executable: ...
def compile_bytes(model: bytes, format: str, options: str, progress: Callable[[Progress], object] | None,
                  log: Callable[[str], object] | None) -> Executable: ...
def compile_graph(text: str, weights: dict[str, object], options: str,
                  progress: Callable[[Progress], object] | None,
                  log: Callable[[str], object] | None) -> Executable: ...
def load(path: str, threads: int, share_threads: bool, device: str | None) -> Executable: ...
def processors() -> int: ...
def version() -> str: ...
