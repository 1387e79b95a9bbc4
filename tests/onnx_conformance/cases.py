"""Functions that load the test cases of the onnx wheel, and decide which are in scope."""
import collections
import os

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")

# One data set: arrays by the names of the model's inputs and outputs.
DataSet = collections.namedtuple("DataSet", "inputs outputs")
Case = collections.namedtuple("Case", "name kind model data_sets rtol atol")

TYPES = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16,
         TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64,
         TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64,
         TensorProto.BOOL, TensorProto.UNDEFINED}
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial",
          "Bernoulli"}
CONTROL_FLOW = {"If", "Loop", "Scan"}
TRAINING_DOMAINS = {"ai.onnx.training", "ai.onnx.preview.training"}

# Cases in which compiled code intentionally has other numbers, with the reasons
# (docs/reference/operators.md).
CHOSEN = {
    f"test_resize_downsample_scales_{mode}_align_corners":
        "corners are those of the result's size, not of the size before it was rounded down"
    for mode in ("linear", "cubic")}


def load(kind):
    """Yields every case of the kind. The models of `node` are generated, the others are in the
    wheel."""
    from onnx.backend.test.loader import load_model_tests
    for case in load_model_tests(kind=kind):
        model = case.model
        if model is None:
            model = onnx.load(os.path.join(case.model_dir, "model.onnx"))
        sets = case.data_sets if case.data_sets is not None else stored_sets(case.model_dir)
        constants = {i.name for i in model.graph.initializer}
        inputs = [i for i in model.graph.input if i.name not in constants]
        named = [DataSet(bind(inputs, xs), bind(model.graph.output, ys)) for xs, ys in sets]
        yield Case(case.name, kind, model, named, case.rtol, case.atol)


def stored_sets(folder):
    for entry in sorted(os.listdir(folder)):
        if entry.startswith("test_data_set_"):
            path = os.path.join(folder, entry)
            yield tuple(stored(path, what) for what in ("input", "output"))


def stored(folder, what):
    count = sum(name.startswith(what + "_") for name in os.listdir(folder))
    tensors = []
    for i in range(count):
        with open(os.path.join(folder, f"{what}_{i}.pb"), "rb") as file:
            tensors.append(file.read())
    return tensors


def bind(values, data):
    """Returns arrays by name. Values that are not tensors (for example sequences) are not
    converted, and their cases do not run."""
    named = {}
    for value, given in zip(values, data):
        if isinstance(given, bytes) and value.type.HasField("tensor_type"):
            given = TensorProto.FromString(given)
        if isinstance(given, TensorProto):
            given = numpy_helper.to_array(given)
        elif isinstance(given, (np.generic, int, float)):
            given = np.asarray(given)
        named[value.name] = given
    return named


def nodes(graph):
    """Yields all nodes, including those of nested graphs."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from nodes(attribute.g)


def all_nodes(model):
    yield from nodes(model.graph)
    for function in model.functions:
        yield from function.node


def out_of_scope(model):
    """Returns the reason why the case is left out, or None."""
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        kind = value.type.WhichOneof("value")
        if kind is not None and kind != "tensor_type":
            return kind.removesuffix("_type").replace("sparse_tensor", "sparse") + "s"
        if kind is not None and (reason := type_reason(value.type.tensor_type.elem_type)):
            return reason
    if model.graph.sparse_initializer:
        return "sparse"
    for tensor in model.graph.initializer:
        if reason := type_reason(tensor.data_type):
            return reason
    return next((reason for node in all_nodes(model) if (reason := node_reason(node))), None)


def type_reason(number):
    if number == TensorProto.STRING:
        return "strings"
    return None if number in TYPES else "type " + TensorProto.DataType.Name(number).lower()


def node_reason(node):
    if node.domain in TRAINING_DOMAINS or trains(node):
        return "training"
    if node.op_type in RANDOM:
        return "random"
    if node.op_type in CONTROL_FLOW:
        return "control flow"
    if "Sequence" in node.op_type and node.op_type != "ReverseSequence":
        return "sequences"
    if node.op_type.startswith("Optional"):
        return "optionals"
    return next((reason for a in node.attribute if (reason := attribute_reason(node, a))), None)


def trains(node):
    attributes = {a.name: a.i for a in node.attribute}
    return node.op_type == "BatchNormalization" and attributes.get("training_mode") == 1


def attribute_reason(node, attribute):
    if attribute.type == AttributeProto.SPARSE_TENSOR:
        return "sparse"
    if attribute.type == AttributeProto.TENSOR:
        return type_reason(attribute.t.data_type)
    # Attributes with these names are element types, stored as integers. Other attributes do not use
    # the names.
    if attribute.name in ("to", "dtype", "output_dtype", "output_datatype"):
        return type_reason(attribute.i)
    if node.op_type in ("Constant", "LabelEncoder") and attribute.type in (
            AttributeProto.STRING, AttributeProto.STRINGS):
        return "strings"
    return None


def training_reason(case):
    """Returns "training" if data enable the random training mode of a Dropout, or else None."""
    for node in case.model.graph.node:
        if node.op_type == "Dropout" and len(node.input) > 2:
            for data in case.data_sets:
                if np.any(data.inputs.get(node.input[2], False)):
                    return "training"
    return None
