"""Classes for cases (ONNX models with inputs) and random choices, and a comparison of results."""
import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper


@dataclasses.dataclass
class Case:
    """A model given by nodes, with arrays for inputs and weights.

    Outputs are the values that no node reads. The model does not declare their shapes. An element
    may differ by `tolerance` times the sum of its magnitude and the output's largest finite
    magnitude, which counts as at least 0.01.
    """
    nodes: list
    inputs: dict
    weights: dict = dataclasses.field(default_factory=dict)
    opset: int = 21
    tolerance: float = 3e-4

    def model(self):
        read = {name for node in self.nodes for name in node.input}
        outputs = [name for node in self.nodes for name in node.output if name and name not in read]
        graph = helper.make_graph(
            self.nodes, "case",
            [helper.make_tensor_value_info(name, type_of(array), array.shape)
             for name, array in self.inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(np.asarray(array), name)
             for name, array in self.weights.items() if name in read])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        inferred = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.output}
        for output in model.graph.output:
            if inferred[output.name].type.WhichOneof("value"):
                output.CopyFrom(inferred[output.name])
                # Shape inference differs from runtimes in corner cases of pools and resizes.
                output.type.tensor_type.ClearField("shape")
        return model

    def __str__(self):
        attributes = {a.name: helper.get_attribute_value(a) for a in self.nodes[0].attribute}
        shapes = {name: f"{array.dtype}{list(array.shape)}" for name, array in self.inputs.items()}
        weights = {name: np.asarray(array).tolist() for name, array in self.weights.items()
                   if np.asarray(array).size < 7}
        operators = " ".join(node.op_type for node in self.nodes)
        return f"{operators} {attributes} {shapes} {weights}"


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def node(operator, inputs, outputs="y", **attributes):
    """Returns an ONNX node. `inputs` and `outputs` are names separated by blanks. The name `-`
    stands for an omitted operand."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, names, outputs.split(), **attributes)


class Chance:
    """A source of random choices for one case. Equal seeds give equal choices."""

    def __init__(self, *seed):
        self.generator = np.random.default_rng(seed)

    def of(self, *choices):
        return choices[self.generator.integers(len(choices))]

    def below(self, end):
        return int(self.generator.integers(end))

    def within(self, first, end):
        return int(self.generator.integers(first, end))

    def one_in(self, count):
        return self.below(count) == 0

    def order(self, count):
        return [int(i) for i in self.generator.permutation(count)]

    def sizes(self, count, first, end):
        return [self.within(first, end) for _ in range(count)]

    def array(self, *shape, dtype=np.float32):
        """Returns an array of normally distributed floats, or of integers of at most two digits."""
        kind = np.dtype(dtype).kind
        if kind == "f":
            return self.generator.standard_normal(shape).astype(dtype)
        return self.generator.integers(0 if kind == "u" else -99, 100, shape).astype(dtype)

    def indices(self, size, shape):
        """Returns indices into an axis of `size` elements. Negative indices count from the end."""
        return self.generator.integers(-size, size, shape).astype(np.int64)


def difference(have, expected, tolerance):
    """Returns a description of the differences of two arrays, or an empty string. Shapes and types
    must be equal. Equal infinities are equal, and NaN equals NaN."""
    have, expected = np.asarray(have), np.asarray(expected)
    if have.shape != expected.shape or have.dtype != expected.dtype:
        return f"{have.dtype}{list(have.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "iub":
        wrong = have != expected
    else:
        with np.errstate(all="ignore"):
            a, b = have.astype(np.float64), expected.astype(np.float64)
            finite = np.isfinite(b)
            bound = tolerance * (np.abs(b) + max(1e-2, np.abs(b[finite]).max(initial=0)))
            near = finite & (np.abs(a - b) <= bound)
            wrong = ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{wrong.sum()} of {wrong.size} differ: {list(place)} is {have[place]}, expected {expected[place]}"
