"""Weights that are compiled in, and the detection of their changes.

torch counts the changes of a tensor, but not all: writes through `.data`, through a NumPy view and
in inference mode are not counted. Weights are therefore frozen only if the option "freeze" is True.
Otherwise each call reads the weights in place.
"""
import operator
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

# Number of changes after which weights are still compiled in. After more changes, all weights are
# read in place.
MOST_CHANGES = 2


class FrozenWeights:
    """The parameters and buffers of one graph, by argument index.

    `follow` receives the arguments of each run. At the first run and after a visible change of a
    weight, `follow` calls `install` with the current weights before any run may continue.
    """

    def __init__(self, indices: Iterable[int],
                 install: Callable[[dict[int, torch.Tensor], Sequence[Any]], None]) -> None:
        self.indices = list(indices)
        self._install = install
        self._marks: tuple[list[int], list[int]] | None = None
        self._changes = 0
        self._held: list[torch.Tensor] = []
        self._lock = threading.Lock()

    def follow(self, values: Sequence[Any]) -> None:
        if self._marks == mark([values[i] for i in self.indices]):
            return
        with self._lock:
            marks = mark([values[i] for i in self.indices])
            if self._marks == marks:  # another thread was first
                return
            if self._marks is not None:
                self._changes += 1
                if self._changes > MOST_CHANGES:
                    self.indices, marks = [], mark([])
            # Holds the memory of compiled-in weights, so that no new weight gets the address of an
            # old one.
            self._held = [values[i].detach() for i in self.indices]
            self._install({i: values[i] for i in self.indices}, values)
            self._marks = marks


_version = operator.attrgetter("_version")


def mark(weights: Sequence[torch.Tensor]) -> tuple[list[int], list[int]]:
    """Returns the address and the version of each weight. One of them differs after a visible
    change of the weight. A model has hundreds of weights, so this function must be fast."""
    addresses = list(map(torch.Tensor.data_ptr, weights))
    try:
        return addresses, list(map(_version, weights))
    except RuntimeError:  # tensors of inference mode have no version
        return addresses, [0 if weight.is_inference() else weight._version for weight in weights]
