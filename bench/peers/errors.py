"""Computes the errors of a peer's outputs."""
import os

import numpy as np


def root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


def rms_error(results, names, path):
    """Returns the greatest error over all outputs, or None if there are no float64 outputs. The
    error of an output is the root mean square of its differences from the float64 output, divided
    by the root mean square of the float64 output."""
    exact = path[:-5] + ".f64.npz"
    if not os.path.exists(exact):
        return None
    with np.load(exact) as z:
        return max(root_mean_square(got - z[name]) / root_mean_square(z[name])
                   for got, name in zip(results, names, strict=True))


def largest_errors(results, reference):
    """Returns the largest absolute error over all outputs, and the largest error relative to the
    largest magnitude of its output in the reference. Raises RuntimeError for an output of another
    shape and for one that is not finite."""
    absolute = relative = 0.0
    for got, expected in zip(results, reference.values(), strict=True):
        if got.shape != expected.shape:
            raise RuntimeError(f"output shape {got.shape}, expected {expected.shape}")
        error = float(np.abs(got - expected).max())
        if not np.isfinite(error):
            raise RuntimeError("output is not finite")
        absolute = max(absolute, error)
        relative = max(relative, error / float(np.abs(expected).max()))
    return {"max_abs_error": absolute, "max_rel_error": relative}
