"""Weights that are compiled in, and the changes of weights that can be seen.

torch counts the changes of a tensor, but not all of them: writes through `.data`, through a NumPy
view and in inference mode leave no trace. So weights are frozen only with `options={"freeze":
True}`. Without that option each call reads the weights in place.
"""
import operator
import threading

import torch

# Weights that changed this often are no weights: from then on they are inputs.
MOST_CHANGES = 2


class FrozenWeights:
    """The parameters and buffers of one graph, by the numbers of its arguments.

    `follow` gets the arguments of each run. After a visible change of a weight, `follow` calls
    `install` with the weights as they are now, before any run may go on.
    """

    def __init__(self, places, install):
        self.places = list(places)
        self._install = install
        self._marks = None
        self._changes = 0
        self._held = []
        self._lock = threading.Lock()

    def follow(self, values):
        if self._marks == _mark([values[i] for i in self.places]):
            return
        with self._lock:
            marks = _mark([values[i] for i in self.places])
            if self._marks == marks:  # another thread was first
                return
            if self._marks is not None:
                self._changes += 1
                if self._changes > MOST_CHANGES:
                    self.places, marks = [], _mark([])
            # The memory of what is compiled in: no other weight may get its address.
            self._held = [values[i].detach() for i in self.places]
            self._install({i: values[i] for i in self.places}, values)
            self._marks = marks


_version = operator.attrgetter("_version")


def _mark(weights):
    """Returns the address and the version of each weight, which a visible change changes. A model has
    hundreds of weights, so this has to be quick."""
    addresses = list(map(torch.Tensor.data_ptr, weights))
    try:
        return addresses, list(map(_version, weights))
    except RuntimeError:  # tensors of inference mode do not count their changes
        return addresses, [0 if weight.is_inference() else weight._version for weight in weights]
