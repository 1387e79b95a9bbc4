"""Computes the errors of a peer's outputs."""
import os

import numpy as np


def root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


def rms_error(results, names, path):
    """Returns the greatest error of an output against the model's float64 outputs: root mean
    squares of the error and of the output, divided. Returns None if there are no float64
    outputs."""
    exact = path[:-5] + ".f64.npz"
    if not os.path.exists(exact):
        return None
    with np.load(exact) as z:
        return max(root_mean_square(got - z[name]) / root_mean_square(z[name])
                   for got, name in zip(results, names, strict=True))


def largest_errors(results, reference):
    """Returns the largest absolute error over all outputs, and the largest error relative to the
    largest magnitude of its output in the reference."""
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
