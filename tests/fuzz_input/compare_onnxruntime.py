#!/usr/bin/env python3
"""Mutates ONNX models and compares the results of tunec and ONNX Runtime where both run a model.

    compare_onnxruntime.py --library LIBTUNEC [--seconds N] [--seed S] [--keep FOLDER] [MODEL...]

Each round takes one of the models, or one of the onnx wheel's cases of single operators. It changes
up to three parts of the model: shapes of inputs, values and shapes of constants, attributes,
operands. Then it runs the model on seeded inputs, in a child process, because either program
may crash. The output ends with `N equal`, `N differ`, `N only ONNX Runtime`, `N only tunec`,
`N neither`, `N crashed`. A model that differs or crashes tunec is stored in FOLDER. The exit code
is 1 if tunec crashed.

A person must check each difference: ONNX leaves much open (values out of range, meaningless
attributes).
"""
import argparse
import collections
import multiprocessing
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "onnx_conformance"))
import cases  # noqa: E402
from library import Failure, Library  # noqa: E402

NUMBERS = [0, 1, 2, 3, 4, 5, 7, 8, -1, -2, -3, 16]
# These attributes are 0 or 1. ONNX does not define other values.
FLAGS = {"align_corners", "allowzero", "antialias", "ceil_mode", "count_include_pad", "exclude_outside",
         "exclusive", "fmod", "interleaved", "is_causal", "keepdims", "largest", "linear_before_reset",
         "noop_with_empty_axes", "onesided", "periodic", "reverse", "select_last_index", "sorted",
         "storage_order", "transA", "transB"}
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e-6, 1e6]
SECONDS_PER_MODEL = 30
# Integer inputs of at most this many elements become constants, as they may be shapes or axes.
MOST_CONSTANT = 64
# The most elements of an input. Mutated extents could make an input too large for the memory.
MOST_ELEMENTS = 1 << 20
# The tolerance is a thousandth of the largest magnitude, because mutated models may be
# ill-conditioned.
TOLERANCE = 1e-3


def change_shape(model, chance):
    value = chance.choice(model.graph.input)
    dims = value.type.tensor_type.shape.dim
    choice = chance.randrange(4)
    if choice == 0:
        dims.add().dim_value = chance.choice(NUMBERS)
    elif choice == 1 and dims:
        del dims[-1]
    elif dims:
        chance.choice(dims).dim_value = chance.choice(NUMBERS)


def change_constant(model, chance):
    if not model.graph.initializer:
        return
    tensor = chance.choice(model.graph.initializer)
    array = numpy_helper.to_array(tensor).copy()
    if chance.randrange(2) and array.dtype.kind in "iu" and array.size:
        array.flat[chance.randrange(array.size)] = abs(chance.choice(NUMBERS))
    elif array.ndim and chance.randrange(2):
        array = array.take(range(max(0, array.shape[0] - 1)), axis=0)
    else:
        array = array[..., None] if chance.randrange(2) else array.reshape(-1)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def change_attribute(model, chance):
    attributes = [a for node in model.graph.node for a in node.attribute]
    if not attributes:
        return
    attribute = chance.choice(attributes)
    if attribute.name in FLAGS:
        attribute.i = 1 - attribute.i
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = chance.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = chance.choice(FLOATS)
    elif attribute.type == onnx.AttributeProto.INTS and attribute.ints:
        attribute.ints[chance.randrange(len(attribute.ints))] = chance.choice(NUMBERS)


def change_operands(model, chance):
    node = chance.choice(model.graph.node)
    if not node.input:
        return
    at = chance.randrange(len(node.input))
    choice = chance.randrange(3)
    if choice == 0:
        other = chance.randrange(len(node.input))
        node.input[at], node.input[other] = node.input[other], node.input[at]
    elif choice == 1:
        del node.input[at]
    else:
        node.input[at] = chance.choice([value.name for value in model.graph.input])


def mutated(model, chance):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    # Mutations may invalidate the declared shapes of outputs and intermediate values.
    for output in copy.graph.output:
        output.type.tensor_type.ClearField("shape")
    del copy.graph.value_info[:]
    for _ in range(chance.randrange(4)):
        chance.choice([change_shape, change_constant, change_attribute, change_operands])(copy, chance)
    return copy


class NoInputs(Exception):
    """Raised if an input has a negative extent or more than MOST_ELEMENTS elements."""


def inputs_of(model, seed):
    """Returns seeded arrays by name for the inputs without initializers. Raises NoInputs."""
    generator = np.random.default_rng(seed)
    given = {tensor.name for tensor in model.graph.initializer}
    arrays = {}
    for value in model.graph.input:
        if value.name in given:
            continue
        kind = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        shape = [dim.dim_value for dim in kind.shape.dim]
        if min(shape, default=0) < 0 or np.prod(shape, dtype=np.float64) > MOST_ELEMENTS:
            raise NoInputs(f"input {value.name} of {shape}")
        if dtype.kind in "iub":
            arrays[value.name] = generator.integers(0, 2, shape).astype(dtype)
        else:
            arrays[value.name] = generator.uniform(-1, 1, shape).astype(dtype)
    return arrays


def run_onnxruntime(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def run_tunec(library, path, inputs):
    with library.compile(str(path), {"db": None, "trials": 0, "threads": 1}) as executable:
        return executable.run(inputs)


def difference(have, reference):
    """Returns a description of the difference of two arrays, or None if it is within TOLERANCE."""
    if have.shape != reference.shape or have.dtype != reference.dtype:
        return f"{have.dtype}{list(have.shape)}, ONNX Runtime has {reference.dtype}{list(reference.shape)}"
    have, reference = have.astype(np.float64), reference.astype(np.float64)
    finite = np.abs(reference[np.isfinite(reference)])
    largest = float(finite.max()) if finite.size else 0.0
    bad = ~np.isclose(have, reference, rtol=TOLERANCE, atol=TOLERANCE * largest, equal_nan=True)
    if not bad.any():
        return None
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"at {list(first)} {have[first]}, ONNX Runtime has {reference[first]}"


def checker(library, path, seed, say):
    """Runs the model at `path` by ONNX Runtime and by tunec. Returns the status ("equal", "differ",
    ...) and the reason. Calls `say("tunec")` before tunec runs."""
    try:
        inputs = inputs_of(onnx.load(path), seed)
    except Exception as error:  # mutated types and shapes fail in many ways
        return "neither", str(error)
    try:
        expected = run_onnxruntime(path, inputs)
    except Exception as error:  # ONNX Runtime raises many kinds of exceptions
        expected, rejection = None, str(error)
    say("tunec")
    try:
        outputs = run_tunec(library, path, inputs)
    except Failure as failure:
        return ("neither" if expected is None else "only ONNX Runtime"), failure.message
    if expected is None:
        return "only tunec", rejection
    problems = [f"'{name}': {problem}" for name, reference in expected.items()
                if (problem := difference(outputs[name], np.asarray(reference)))]
    return ("differ", "; ".join(problems)) if problems else ("equal", "")


def serve(pipe, library_path):
    """Checks the models that arrive through the pipe, until it is closed."""
    library = Library(library_path)
    while True:
        path, seed = pipe.recv()
        pipe.send(("outcome", *checker(library, path, seed, lambda turn: pipe.send((turn,)))))


class ScheduleChecker:
    """A process that checks models. The process is replaced if a model ends it or takes too long."""

    def __init__(self, library_path):
        self.library_path, self.process = library_path, None

    def start(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(theirs, self.library_path), daemon=True)
        self.process.start()
        theirs.close()

    def stop(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.process = None

    def ask(self, path, seed):
        if self.process is None:
            self.start()
        self.pipe.send((path, seed))
        turn, end, status = "ONNX Runtime", time.monotonic() + SECONDS_PER_MODEL, "hung"
        try:
            while self.pipe.poll(max(0, end - time.monotonic())):
                turn, *outcome = self.pipe.recv()
                if outcome:
                    return outcome
        except EOFError:
            self.process.join()
            status = f"ended with {self.process.exitcode}"
        self.stop()
        return ("crashed" if turn == "tunec" else "neither"), status


def with_constants(model, inputs):
    """Returns the model with its small integer inputs as constants, as in exporters' files."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for name, array in inputs.items():
        if array.dtype.kind in "iu" and array.size <= MOST_CONSTANT:
            copy.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return copy


def node_cases():
    """Returns (name, model) for each case of single operators in the wheel that tunec must run."""
    warnings.simplefilter("ignore")  # generating them overflows intentionally
    return [(case.name, with_constants(case.model, case.data_sets[0].inputs))
            for case in cases.load("node") if cases.out_of_scope(case.model) is None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--library", required=True, help="libtunec.so")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz/onnxruntime"))
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    models = [(Path(path).stem, onnx.load(path)) for path in arguments.models] + node_cases()
    counts = collections.Counter()
    end, number = time.monotonic() + arguments.seconds, arguments.seed
    process = ScheduleChecker(arguments.library)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        while time.monotonic() < end:
            number += 1
            chance = random.Random(number)
            name, model = chance.choice(models)
            try:
                path.write_bytes(mutated(model, chance).SerializeToString())
            except (ValueError, TypeError, IndexError, OverflowError):
                continue  # a model that cannot be serialized is skipped
            status, detail = process.ask(str(path), number)
            counts[status] += 1
            if status not in ("differ", "crashed"):
                continue
            arguments.keep.mkdir(parents=True, exist_ok=True)
            kept = arguments.keep / f"{name}_{number}.onnx"
            kept.write_bytes(path.read_bytes())
            print(f"{status} {kept}: {detail[:300]}", flush=True)
    for status in ("equal", "differ", "only ONNX Runtime", "only tunec", "neither", "crashed"):
        print(f"{counts[status]} {status}")
    return 1 if counts["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
