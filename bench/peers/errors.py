"""How far a peer's outputs lie from the reference."""
import os

import numpy as np


def root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


def rms_error(results, names, path):
    """Against the float64 outputs of the model at `path`; None where it has none."""
    exact = path[:-5] + ".f64.npz"
    if not os.path.exists(exact):
        return None
    with np.load(exact) as z:
        return max(root_mean_square(got - z[name]) / root_mean_square(z[name])
                   for got, name in zip(results, names, strict=True))


def largest_errors(results, reference):
    """Absolute, and divided by the largest magnitude of the reference; dict of the outputs by name."""
    absolute = relative = 0.0
    for got, want in zip(results, reference.values(), strict=True):
        if got.shape != want.shape:
            raise RuntimeError(f"output shape {got.shape}, expected {want.shape}")
        error = float(np.abs(got - want).max())
        if not np.isfinite(error):
            raise RuntimeError("output is not finite")
        absolute = max(absolute, error)
        relative = max(relative, error / float(np.abs(want).max()))
    return {"max_abs_error": absolute, "max_rel_error": relative}
