"""The peer that runs single matrix products in NumPy."""
import os

import numpy as np

from .peer import Peer


class Numpy(Peer):
    """numpy.matmul, which is OpenBLAS in the PyPI wheels. Matrix products only."""

    def load(self, path, inputs, outputs):
        if not os.path.basename(path).startswith("matmul_") or len(inputs) != 2:
            raise NotImplementedError("only plain matrix products")
        (self.a, self.b), self.out = inputs.values(), np.empty_like(outputs["y0"])

    def run(self):
        np.matmul(self.a, self.b, out=self.out)

    def results(self):
        return [self.out]

    def version(self):
        return np.__version__
