"""Small graphs that the tests of the package compile."""

SCALED = """graph scaled {
  input x: f32[4, 3]
  weight w: f32[3]
  y = mul(x, w)
  output y
}
"""

PRODUCT = """graph product {
  input a: f32[48, 96]
  input b: f32[96, 64]
  c = matmul(a, b)
  d = relu(c)
  output d
  output c
}
"""


def identity(element_type, shape):
    """Returns a graph of two inputs whose output equals the first: y = where(c, x, x)."""
    sizes = ", ".join(map(str, shape))
    return f"""graph same {{
  input x: {element_type}[{sizes}]
  input c: bool[]
  y = where(c, x, x)
  output y
}}
"""
