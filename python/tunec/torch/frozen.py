"""Weights that are compiled in, and the changes of weights that can be seen.

torch counts the changes of a tensor, but not all of them: writes through `.data`, through a NumPy
view and in inference mode leave no trace. So weights are frozen only with `options={"freeze":
True}`. Without that option each call reads the weights in place.
"""
import threading

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
        if self._marks == self._mark(values):
            return
        with self._lock:
            marks = self._mark(values)
            if self._marks == marks:  # another thread was first
                return
            if self._marks is not None:
                self._changes += 1
                if self._changes > MOST_CHANGES:
                    self.places, marks = [], []
            # The memory of what is compiled in: no other weight may get its address.
            self._held = [values[i].detach() for i in self.places]
            self._install({i: values[i] for i in self.places}, values)
            self._marks = marks

    def _mark(self, values):
        """Returns the address and the version of each weight, which a visible change changes."""
        return [(values[i].data_ptr(), _version(values[i])) for i in self.places]


def _version(tensor):
    # Tensors of inference mode do not count their changes.
    return 0 if tensor.is_inference() else tensor._version
