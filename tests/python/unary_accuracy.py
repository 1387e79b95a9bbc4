"""Compares functions of one operand with NumPy in a wider type, for all float16 values and many
float32 and float64 values. The unit of errors is the last place of the exact result.

    python unary_accuracy.py [--options JSON]... [--values N] [--seed S] [NAME...]

compares the named functions, or all, under each set of options that tunec.compile takes."""
import argparse
import json
import math
import sys

import numpy as np
import tunec

ELEMENTS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
# Tolerances in units in the last place. docs/reference/operators.md explains those above 4.
MOST = 4
LARGER = {("tanh", "f32"): 4.6, ("erf", "f32"): 5.2, ("gelu", "f32"): 5, ("gelu", "f64"): 5}
_PI = np.longdouble("3.14159265358979323846264338327950288")
_SELU = tuple(np.longdouble(np.float32(v)) for v in (1.67326319217681884765625,
                                                     1.05070102214813232421875))


def _wide_erfc(x):
    """Returns erfc of long doubles: by the series for large x, else by erfc of doubles, corrected
    by the argument's rounding to double."""
    near = x.astype(np.float64)
    known = np.vectorize(math.erfc, otypes=[np.float64])(near).astype(x.dtype)
    decay = np.exp(-x * x) / np.sqrt(_PI)
    exact = known - np.where(np.isfinite(x), 2 * decay * (x - near), 0)
    large = np.where(x > 10, x, 10)
    terms = np.zeros_like(large)
    for k in range(20, 0, -1):
        terms = -(2 * k - 1) / (2 * large * large) * (1 + terms)
    return np.where(x > 10, decay / large * (1 + terms), exact)


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def _sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _below(x, tail):
    """Returns x if it is positive, else tail(x)."""
    return np.where(x > 0, x, tail(np.minimum(x, 0)))


def _gelu(x):
    return x * (_wide_erfc(-x / np.sqrt(np.longdouble(2))) / 2)


def _gelu_tanh(x):
    root = np.sqrt(2 / _PI)
    cubic = x + np.longdouble("0.044715") * (x * x * x)
    return x / (1 + np.exp(-2 * root * cubic))


def _hard_sigmoid(x):
    return np.clip(np.longdouble(0.25) * x + np.longdouble(0.5), 0, 1)


# Operators with their attributes, and their definitions.
FUNCTIONS = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "exp": np.exp, "expm1": np.expm1,
    "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "tanh": np.tanh, "erf": _erf,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "floor": np.floor, "ceil": np.ceil, "round": np.rint,
    "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x), "gelu": _gelu,
    'gelu {approximate="tanh"}': _gelu_tanh, "elu": lambda x: _below(x, np.expm1),
    "selu": lambda x: _SELU[1] * _below(x, lambda y: _SELU[0] * np.expm1(y)),
    "celu {alpha=0.5}": lambda x: _below(x, lambda y: np.expm1(y / 0.5) / 2),
    "softplus": _softplus, "softsign": lambda x: x / (1 + np.abs(x)),
    "hard_sigmoid {alpha=0.25, beta=0.5}": _hard_sigmoid,
    "hard_swish": lambda x: x * (np.clip(x + 3, 0, 6) / 6),
    "mish": lambda x: x * np.tanh(_softplus(x)),
}


def values(element, count, seed):
    """Returns random bits, numbers of ordinary size, and special ones, or all numbers of float16.
    """
    dtype = ELEMENTS[element]
    if element == "f16":
        return np.arange(65536, dtype=np.uint16).view(np.float16)
    random = np.random.default_rng(seed)
    word, bits = (np.uint32, 32) if element == "f32" else (np.uint64, 64)
    any_bits = random.integers(0, 2**bits, count, dtype=word).view(dtype)
    ordinary = random.standard_normal(count) * np.exp(random.uniform(-8, 5, count))
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 3, -3, 88.7, 88.8, -87.4,
               -103.9, -20, 20, 709.7, -745, info.tiny, info.tiny / 4, info.max, -info.max, info.eps]
    return np.concatenate([any_bits, ordinary.astype(dtype), np.array(special, dtype)])


def results(names, x, element, options):
    """Returns the results of the compiler's code for x, for each function."""
    lines = [f"  input x: {element}[{len(x)}]"]
    for i, name in enumerate(names):
        operator, _, attributes = name.partition(" ")
        lines += [f"  y{i} = {operator}(x) {attributes}", f"  output y{i}"]
    text = "graph functions {\n" + "\n".join(lines) + "\n}\n"
    found = tunec.compile(text, db=None, **options)(x)
    return found if isinstance(found, tuple) else (found,)


def _unit(exact, dtype):
    """Returns a unit in the last place. For denormal numbers it is their spacing."""
    info = np.finfo(dtype)
    size = np.clip(np.abs(exact), np.longdouble(info.tiny), np.longdouble(info.max))
    _, exponent = np.frexp(size)
    return np.ldexp(np.longdouble(1), exponent - 1 - info.nmant)


def faults(name, x, y):
    """Returns sentences about wrong results of a function, and the largest error in units."""
    dtype = y.dtype.type
    exact = np.asarray(FUNCTIONS[name](x.astype(np.longdouble)))
    rounded = exact.astype(dtype)
    # At the end of the range one unit decides between infinity and the greatest number.
    greatest = np.longdouble(np.finfo(dtype).max)
    at_end = (np.abs(exact) > greatest * np.longdouble(0.999)) & (
        np.abs(y.astype(np.longdouble)) >= greatest)
    number = np.isfinite(rounded) & np.isfinite(y)
    error = np.zeros(x.shape)
    error[number] = np.abs(y[number] - exact[number]) / _unit(exact[number], dtype)
    most = LARGER.get((name, _element(dtype)), MOST)
    kinds = {
        "NaN": np.isnan(rounded) != np.isnan(y),
        "infinity": (np.isinf(rounded) != np.isinf(y)) & ~np.isnan(rounded) & ~np.isnan(y) & ~at_end,
        "sign of zero": (rounded == 0) & (y == 0) & (np.signbit(rounded) != np.signbit(y)),
        f"error above {most}": error > most,
    }
    said = []
    for kind, where in kinds.items():
        if where.any():
            i = int(np.argmax(np.where(where, np.maximum(error, 1e-30), 0)))
            said.append(f"{where.sum()} of {kind}, such as f({x[i]!r}) = {y[i]!r} for {rounded[i]!r} "
                        f"({error[i]:.3g} units)")
    return said, float(error[number].max(initial=0))


def _element(dtype):
    return next(name for name, other in ELEMENTS.items() if other is dtype)


def compare(names, options, count, seed):
    """Yields for each function and type: its name, the type, its faults, the largest error."""
    for element in ELEMENTS:
        x = values(element, count, seed)
        with np.errstate(all="ignore"):
            for name, y in zip(names, results(names, x, element, options)):
                yield (name, element, *faults(name, x, np.asarray(y)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--options", action="append", type=json.loads, help="as JSON, repeatable")
    parser.add_argument("--values", type=int, default=100000, help="of each kind and type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", help=", ".join(FUNCTIONS))
    arguments = parser.parse_args()
    wrong = 0
    for options in arguments.options or [{}]:
        print(json.dumps(options))
        names = arguments.names or list(FUNCTIONS)
        for name, element, said, worst in compare(names, options, arguments.values, arguments.seed):
            wrong += bool(said)
            print(f"  {name:36s} {element}  {worst:6.2f}  {'; '.join(said)}", flush=True)
    print(f"{wrong} rows are wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
