"""Tests of casts of floats that are out of an integer type's range. Compiled and folded casts must
keep the low bits, as in NumPy."""
import math
import unittest

import numpy as np
import tunec

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
            "u32": np.uint32, "i64": np.int64, "u64": np.uint64}


def telling_values(dtype):
    """Returns both signs of powers of two, their neighbours, halves, NaN and infinity."""
    powers = [2.0**k for k in range(66)]
    near = [v for p in powers for v in (p, p - 1, p + 1, p - 0.5, 1.5 * p, p + 300)]
    positive = np.array([0, 0.9, 300, 70000, 1e30, math.inf, math.nan, *near])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([positive, -positive]).astype(dtype)


def converted(value, bits):
    """Returns the value as a signed integer of `bits`, or the smallest one if out of range."""
    end = 2.0 ** (bits - 1)
    return math.trunc(value) if abs(value) < end else -2 ** (bits - 1)


def expected(value, dtype):
    info = np.iinfo(dtype)
    wide = max(info.bits, 32)
    half = 2.0 ** (wide - 1)
    if info.min == 0 and info.bits >= 32 and value >= half:
        whole = converted(value - half, wide) + 2 ** (wide - 1)
    else:
        whole = converted(value, wide)
    return (whole - info.min) % 2**info.bits + info.min


class Casts(unittest.TestCase):

    def check(self, element, target, graph):
        x = telling_values(FLOATS[element])
        reference = np.array([expected(float(v), INTEGERS[target]) for v in x], INTEGERS[target])
        y = np.asarray(tunec.compile(graph, db=None)(x))
        wrong = np.flatnonzero(y != reference)
        self.assertEqual([(x[i], y[i], reference[i]) for i in wrong[:4]], [])

    def test_every_type(self):
        for element, dtype in FLOATS.items():
            for target in INTEGERS:
                with self.subTest(source=element, target=target):
                    self.check(element, target, f"""graph cast {{
  input x: {element}[{len(telling_values(dtype))}]
  y = cast(x) {{to="{target}"}}
  output y
}}
""")

    def test_numpy_agrees_where_peers_do(self):
        for dtype in FLOATS.values():
            for target in INTEGERS.values():
                info = np.iinfo(target)
                x = telling_values(dtype)
                size = np.abs(x.astype(np.float64))
                x = x[size < 2.0 ** (max(info.bits, 32) - 1)]
                with np.errstate(invalid="ignore"):
                    found = x.astype(target)
                wanted = np.array([expected(float(v), target) for v in x], target)
                np.testing.assert_array_equal(found, wanted)

    def test_folded_constants(self):
        x = [300.0, -1.5, 70000.0, 3e9, 1e30]
        for target, dtype in INTEGERS.items():
            y = tunec.compile(f"""graph folded {{
  input z: {target}[5]
  constant x: f64[5] = {x}
  c = cast(x) {{to="{target}"}}
  y = add(c, z)
  output y
}}
""", db=None)(np.zeros(5, dtype))
            self.assertEqual(np.asarray(y).tolist(), [expected(v, dtype) for v in x], target)

    def test_integers_through_floats(self):
        x = np.array([300, -1, 70000, 2**31 - 1, -2**31], np.int32)
        y = tunec.compile("""graph through {
  input x: i32[5]
  wide = cast(x) {to="f64"}
  y = cast(wide) {to="u8"}
  output y
}
""", db=None)(x)
        np.testing.assert_array_equal(np.asarray(y), x.astype(np.uint8))


if __name__ == "__main__":
    unittest.main()
