"""Small models and Computes for the tests of tunec, and functions for .npz files."""
import io
import struct
import zipfile

from onnx_bytes import model, node

COMPUTE = """compute matvec {
  input M: f32[96, 64]
  input x: f32[64]
  output y: f32[96]
  workspace acc: f32[96]
  product[i: 96, j: 64 reduction]:
    acc[i] sum= M[i, j] * x[j]
  result[i: 96]:
    y[i] = acc[i]
}
"""
SIZED_GRAPH = """graph sized {
  input x: f32[batch, length, 3]
  y = reduce_mean(x) {axes=[1], keepdims=0}
  output y
}
"""
GRAPH = """graph g {
  input a: f32[24, 40]
  input b: f32[40, 56]
  p = matmul(a, b)
  r = relu(p)
  output y = r
}
"""
HALF = """graph h {
  input a: f16[8, 64]
  input b: f16[64, 48]
  p = matmul(a, b)
  s = silu(p)
  output y = s
}
"""
QUANTISED = """graph q {
  input x: f32[4, 40]
  input w: f32[40, 24]
  constant step: f32[] = 0.05
  p = matmul(x, w)
  d = div(p, step)
  r = round(d)
  c = clip(r) {min=-128, max=127}
  l = cast(c) {to="i8"}
  f = cast(l) {to="f32"}
  y = mul(f, step)
  output y = y
}
"""
DOT = """compute d {
  input a: f32[40]
  input b: f32[40, 24]
  output y: f32[24]
  y[j: 24, k: 40 reduction]:
    y[j] sum= a[k] * b[k, j]
}
"""
# A table of measured times, as tunec db record writes it.
TABLE = """{"tunec_times":1,"workload":"0","description":"","target":"cpu","fixed_sketch":0,"fixed_seconds":0.001}
{"sketch":"direct/tile","knobs":[{"name":"rows","choices":[1,2],"initial":0}]}
{"sketch":"direct/naive","knobs":[]}
[0,[0],1,0.01]
[0,[1],0.8,0.01]
[1,[],5,0]
"""
RELU = model([node("Relu", ["x"], ["y"])], {"x": [2, 3]}, {"y": [2, 3]})


def npz(**arrays):
    """Returns the bytes of an .npz file of float32 arrays. An argument is name=(shape, numbers)."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, (shape, numbers) in arrays.items():
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                             header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))
    return content.getvalue()


def only_number(path):
    """Returns the only float32 of the only array in the .npz file."""
    with zipfile.ZipFile(path) as archive:
        return struct.unpack("<f", archive.read(archive.namelist()[0])[-4:])[0]


def model_of_open_shape():
    return model([node("Relu", ["x"], ["y"])], {"x": ["n", 3]}, {"y": ["n", 3]})
