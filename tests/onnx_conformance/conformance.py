#!/usr/bin/env python3
"""Runs the test cases of the onnx wheel through compiled code and counts the outcomes.

A case passes if every output of every data set has the expected type, shape and numbers: integers
and booleans exactly, floats within the case's rtol and atol (onnx gives 1e-3 and 1e-7). For f16 and
bf16, rtol is at least twice the spacing of the type (2^-9 and 2^-6), because the expected numbers
were rounded after every operator, and those of compiled code once. For f32, atol is at least the
type's spacing (2^-23) at the largest expected number, which is the precision of a cancelled sum. A
case is unsupported if compilation fails with TUNEC_UNSUPPORTED. It is wrong in every other event:
another error, a wrong number, a crash, or a timeout. Cases of `cases.CHOSEN` intentionally have
other numbers. If such a case passes, it is wrong, because the list is out of date.

An input whose value decides shapes (Reshape's `shape` given as an input of the model) is bound to
its value by the compiler's option `constants`. This is done only if the compiler reports that it
needs the value. The count of such cases is printed.

A run of all cases on a processor compares the outcomes with outcomes.txt, the source of
docs/support.md. `--write-outcomes` rewrites that file.
"""
import argparse
import collections
import difflib
import multiprocessing
import multiprocessing.connection
import os
import re
import sys
import tempfile
import time
import warnings

import ml_dtypes
import numpy as np
import onnx

import cases
from library import UNSUPPORTED, Failure, Library

OUTCOMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "outcomes.txt")
OUTCOMES_HEADER = """\
# Outcomes of the test cases of the onnx wheel {version} on a processor, by operator.
# Written by `tools/dev onnx-conformance --write-outcomes`; docs/support.md shows them.
"""

# The largest number of elements of a bound input.
MOST_BOUND = 16

# The words that outcomes.txt has instead of a status.
OUTCOME_WORDS = {"chosen": "other by choice"}

# The outcome of one case. `status` is one of passed, unsupported, wrong, chosen. `bound` lists the
# names of inputs that are bound to constants.
Outcome = collections.namedtuple("Outcome", "status detail bound")


# -- one case ------------------------------------------------------------------------------------


def differences(got, expected, case):
    """Returns a description of the wrong elements of an output, or None."""
    expected = np.asarray(expected)
    if got.dtype != expected.dtype:
        return f"type {got.dtype}, expected {expected.dtype}"
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind in "iub":
        bad = got != expected
        got, expected = got.astype(object), expected.astype(object)
    else:
        rtol = max(case.rtol, 2 * float(ml_dtypes.finfo(expected.dtype).eps))
        single = expected.dtype == np.float32
        got, expected = got.astype(np.float64), expected.astype(np.float64)
        bad = ~np.isclose(got, expected, rtol=rtol, atol=absolute_tolerance(case, expected, single),
                          equal_nan=True)
    if not bad.any():
        return None
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} wrong, at {list(first)} {got[first]}, expected {expected[first]}"


def absolute_tolerance(case, expected, single):
    finite = np.abs(expected[np.isfinite(expected)])
    if not single or finite.size == 0:
        return case.atol
    return max(case.atol, float(finite.max()) * float(np.finfo(np.float32).eps))


def open_shapes(case):
    """Returns sizes for the inputs with dynamic dimensions, from the first data set."""
    shapes = {}
    for value in case.model.graph.input:
        given = case.data_sets[0].inputs.get(value.name)
        kind = value.type.tensor_type
        is_open = not kind.HasField("shape") or any(
            not dim.HasField("dim_value") for dim in kind.shape.dim)
        if given is not None and is_open:
            shapes[value.name] = list(np.shape(given))
    return shapes


def ancestors(graph, names):
    """Returns the given values and all values that `names` are computed from."""
    makers = {output: node for node in graph.node for output in node.output}
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            found.add(name)
            waiting += makers[name].input if name in makers else []
    return found


def needed_constants(case, message):
    """Returns the inputs that the named values of the compiler's message depend on.

    Large arrays are excluded, because they are data, not shapes."""
    named = re.findall(r"input \d+ \('([^']*)'\) is computed at run time", message)
    known = ancestors(case.model.graph, named)
    return {name: array for name, array in case.data_sets[0].inputs.items()
            if name in known and array.size <= MOST_BOUND}


def most_elements(case):
    """Returns the size of the largest input or output."""
    return max((np.size(array) for data in case.data_sets
                for array in (*data.inputs.values(), *data.outputs.values())), default=0)


def compile_case(library, case, folder, target):
    """Returns the executable and the bound inputs, or raises Failure. `target` holds the compiler's
    options for the target."""
    path = os.path.join(folder, "case.onnx")
    with open(path, "wb") as file:
        file.write(case.model.SerializeToString())
    options = {"db": None, "trials": 0, "threads": 2, "shapes": open_shapes(case), **target}
    bound = {}
    while True:
        try:
            return library.compile(path, options), bound
        except Failure as failure:
            needed = needed_constants(case, failure.message)
            if failure.status != UNSUPPORTED or needed.keys() <= bound.keys():
                raise
            bound |= needed
            options["constants"] = write_arrays(bound, folder)


def write_arrays(arrays, folder):
    """Writes the arrays into files. Returns the paths by name."""
    files = {}
    for i, (name, array) in enumerate(arrays.items()):
        files[name] = os.path.join(folder, f"constant_{i}.npy")
        np.save(files[name], array)
    return files


def checked(outcome, case):
    """Returns the outcome, which is changed for a case that intentionally has other numbers."""
    if case.name not in cases.CHOSEN or outcome.status == "unsupported":
        return outcome
    if outcome.status == "passed":
        return Outcome("wrong", "it passes, but cases.CHOSEN lists it", outcome.bound)
    is_number = outcome.detail.startswith("output ")
    return Outcome("chosen", cases.CHOSEN[case.name], outcome.bound) if is_number else outcome


def run_case(library, case, folder, target):
    return checked(run_data(library, case, folder, target), case)


def run_data(library, case, folder, target):
    try:
        executable, bound = compile_case(library, case, folder, target)
    except Failure as failure:
        status = "unsupported" if failure.status == UNSUPPORTED else "wrong"
        return Outcome(status, failure.message.replace(os.path.join(folder, ""), ""), [])
    with executable:
        for number, data in enumerate(case.data_sets):
            if any(np.any(data.inputs[name] != array) for name, array in bound.items()):
                return Outcome("wrong", f"data set {number} has other constants", list(bound))
            try:
                outputs = executable.run(data.inputs)
            except Failure as failure:
                return Outcome("wrong", "run: " + failure.message, list(bound))
            for name, expected in data.outputs.items():
                if name and (problem := differences(outputs[name], expected, case)):
                    return Outcome("wrong", f"output '{name}': {problem}", list(bound))
    return Outcome("passed", "", list(bound))


# -- the worker processes ------------------------------------------------------------------------


def serve(pipe, library_path, all_cases, target):
    """Runs the cases whose numbers arrive in the pipe, until None arrives. Sends the outcomes."""
    warnings.simplefilter("ignore")
    library = Library(library_path)
    with tempfile.TemporaryDirectory() as folder:
        while (number := pipe.recv()) is not None:
            try:
                pipe.send(run_case(library, all_cases[number], folder, target))
            except Exception as error:  # an error of the harness counts as wrong
                pipe.send(Outcome("wrong", f"{type(error).__name__}: {error}", []))


class Worker:
    """A process that runs cases. A worker that dies or hangs is replaced."""

    def __init__(self, library_path, all_cases, target):
        self.arguments = library_path, all_cases, target
        self.start()

    def start(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(theirs, *self.arguments))
        self.process.start()
        theirs.close()
        self.number = None

    def begin(self, number):
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def outcome(self, limit):
        """Returns the outcome of the running case, or None if there is none yet."""
        if self.pipe.poll():
            try:
                return self.pipe.recv()
            except EOFError:
                self.process.join()
                code = self.process.exitcode
                self.start()
                return Outcome("wrong", f"the process died with exit code {code}", [])
        if time.monotonic() - self.since > limit:
            self.process.kill()
            self.process.join()
            self.start()
            return Outcome("wrong", f"no end within {limit} s", [])
        return None

    def stop(self):
        self.pipe.send(None)
        self.process.join()


def run_all(library_path, all_cases, target, count, limit):
    """Runs all cases in `count` processes. Returns the outcomes in the order of the cases."""
    outcomes = [None] * len(all_cases)
    waiting = collections.deque(range(len(all_cases)))
    workers = [Worker(library_path, all_cases, target)
               for _ in range(max(1, min(count, len(all_cases))))]
    for worker in workers:
        if waiting:
            worker.begin(waiting.popleft())
    while any(worker.number is not None for worker in workers):
        busy = [worker for worker in workers if worker.number is not None]
        multiprocessing.connection.wait([worker.pipe for worker in busy], timeout=1)
        for worker in busy:
            number = worker.number
            outcome = worker.outcome(limit)
            if outcome is not None:
                outcomes[number] = outcome
                worker.number = None
                if waiting:
                    worker.begin(waiting.popleft())
    for worker in workers:
        worker.stop()
    return outcomes


# -- the report ----------------------------------------------------------------------------------


def operator(case):
    """Returns the operator of a case: its only operator, or the operator in its name."""
    kinds = {node.op_type for node in case.model.graph.node}
    return kinds.pop() if len(kinds) == 1 else re.sub(r"^test_", "", case.name)


def reported_operators(case, detail):
    """Returns the operators that the compiler's error lists, or else the case's operator."""
    return sorted(set(re.findall(r"(?:^|; |: )([A-Z]\w+) '", detail))) or [operator(case)]


def outcomes_text(all_cases, outcomes, left_out, version):
    """Returns the text of outcomes.txt: a line for each operator, then one for each reason."""
    counts = collections.defaultdict(collections.Counter)
    for case, outcome in zip(all_cases, outcomes):
        kinds = {node.op_type for node in case.model.graph.node}
        counts[kinds.pop() if len(kinds) == 1 else "several operators"][outcome.status] += 1
    lines = [f"{name}: " + ", ".join(f"{count} {OUTCOME_WORDS.get(status, status)}"
                                     for status, count in sorted(of_name.items()))
             for name, of_name in sorted(counts.items())]
    lines += [f"out of scope: {count} {reason}" for reason, count in sorted(left_out.items())]
    return OUTCOMES_HEADER.format(version=version) + "\n".join(lines) + "\n"


def compare_outcomes(text):
    """Prints the lines that differ from outcomes.txt. Returns their number."""
    with open(OUTCOMES, encoding="utf-8") as file:
        stored = file.read().splitlines()
    changes = [line for line in difflib.unified_diff(stored, text.splitlines(), lineterm="", n=0)
               if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    for line in changes:
        print(f"  outcomes.txt {line}")
    if changes:
        print("outcomes.txt is out of date; --write-outcomes rewrites it")
    return len(changes)


def report(all_cases, outcomes, left_out, listed_status):
    ended = collections.defaultdict(list)
    for case, outcome in zip(all_cases, outcomes):
        ended[outcome.status].append((case, outcome))
    if listed_status:
        for case, outcome in ended[listed_status]:
            print(f"{case.name}: {outcome.detail}")
    groups = collections.Counter(name for case, outcome in ended["unsupported"]
                                 for name in reported_operators(case, outcome.detail))
    for name, number in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        print(f"  unsupported {number:4} {name}")
    for reason, number in sorted(left_out.items()):
        print(f"  out of scope {number:4} {reason}")
    bound = sum(bool(outcome.bound) for _, outcome in ended["passed"])
    if bound:
        print(f"  {bound} of those that passed have inputs bound to constants")
    if all_cases:
        print(f"  {100 * len(ended['passed']) / len(all_cases):.1f} % of those in scope passed")
    for status in ("passed", "unsupported", "wrong"):
        print(f"{len(ended[status])} {status}")
    for case, outcome in ended["chosen"]:
        print(f"  other by choice: {case.name}: {outcome.detail}")
    print(f"{len(ended['chosen'])} other by choice")
    print(f"{sum(left_out.values())} out of scope")
    return 1 if ended["wrong"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/lib/libtunec.so", help="libtunec.so")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases of such a name")
    parser.add_argument("--list", choices=("passed", "unsupported", "wrong"), help="each, with why")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="of one case")
    parser.add_argument("--target", choices=("cpu", "cuda"), help="what to compile for (default: cpu)")
    parser.add_argument("--arch", metavar="NAME", help="with cuda: the GPU's, sm_90a for example")
    parser.add_argument("--emulate", action="store_true", help="with cuda: without a GPU")
    parser.add_argument("--most-elements", type=int, metavar="N", help="of an array of a case")
    parser.add_argument("--write-outcomes", action="store_true", help="rewrite outcomes.txt (all cases, cpu)")
    options = parser.parse_args()
    is_whole = not (options.filter or options.most_elements or options.target == "cuda")
    if options.write_outcomes and not is_whole:
        parser.error("--write-outcomes needs all cases, on a processor")
    target = {name: value for name in ("target", "arch", "emulate") if (value := getattr(options, name))}
    warnings.simplefilter("ignore")  # warnings from the cases' arithmetic

    selected, left_out = [], collections.Counter()
    for kind in cases.KINDS:
        for case in cases.load(kind):
            if not re.search(options.filter, case.name):
                continue
            reason = cases.out_of_scope(case.model) or cases.training_reason(case)
            if not reason and options.most_elements and most_elements(case) > options.most_elements:
                reason = f"more than {options.most_elements} elements"
            if reason:
                left_out[reason] += 1
            else:
                selected.append(case)
    outcomes = run_all(os.path.abspath(options.library), selected, target, options.jobs, options.limit)
    code = report(selected, outcomes, left_out, options.list)
    if is_whole:
        text = outcomes_text(selected, outcomes, left_out, onnx.__version__)
        if options.write_outcomes:
            with open(OUTCOMES, "w", encoding="utf-8") as file:
                file.write(text)
        elif compare_outcomes(text):
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
