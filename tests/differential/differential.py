#!/usr/bin/env python3
"""Compares tunec with ONNX Runtime, without its optimisations, on random models.

    differential.py [FAMILY...] [--count N] [--seed S] [--first I] [--seconds T] [--options JSON]

A family draws models of one kind. The family `folds` draws chains of operators that rewrites move
into products. Each other family draws one operator with random attributes and operands. Case I of a
family under seed S is always the same, and its line begins with `FAMILY S,I`. If ONNX Runtime
rejects a model, onnx's reference evaluator takes its place. Prints what differs and what tunec
rejects, and a line of counts for each family. The exit code is 1 if anything differs.
"""
import argparse
import collections
import json
import sys
import time

import onnxruntime
from onnx.reference import ReferenceEvaluator

import arithmetic
import folds
import indexing
import windows
from case import Chance, difference

FAMILIES = {"folds": folds.generate,
            **{family.__name__: family
               for module in (windows, indexing, arithmetic) for family in module.FAMILIES}}


def expected_outputs(model, inputs):
    """Returns the outputs of ONNX Runtime or of the reference evaluator, or None if both fail."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, inputs)
    except Exception:  # pylint: disable=broad-except  # many types
        pass
    try:
        return ReferenceEvaluator(model).run(None, inputs)
    except Exception:  # pylint: disable=broad-except
        return None


def tunec_outputs(model, inputs, options):
    import tunec
    outputs = tunec.compile(model.SerializeToString(), db=None, **options)(**inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def run_case(case, options):
    """Returns `same`, `differs`, `rejected` or `no peer`, and the difference or the rejection."""
    model = case.model()
    expected = expected_outputs(model, case.inputs)
    if expected is None:
        return "no peer", ""
    import tunec
    try:
        outputs = tunec_outputs(model, case.inputs, options)
    except tunec.Error as error:
        return "rejected", str(error)
    for number, (have, right) in enumerate(zip(outputs, expected, strict=True)):
        if problem := difference(have, right, case.tolerance):
            return "differs", f"output {number}: {problem}"
    return "same", ""


def run_family(name, seed, numbers, options, deadline=None):
    """Runs the family's cases `numbers` and returns the count of each result. Prints the cases that
    differ or are rejected. Stops at the deadline, a time of time.monotonic."""
    counts = collections.Counter()
    for number in numbers:
        if deadline is not None and time.monotonic() > deadline:
            break
        case = FAMILIES[name](Chance(seed, *name.encode(), number))
        ending, line = run_case(case, options)
        counts[ending] += 1
        if line:
            print(f"{name} {seed},{number} {ending}: {case}: {line}"[:900], flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)} (default: all)")
    parser.add_argument("--count", type=int, default=400, help="cases of each family (default 400)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (default 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="the time limit for each family")
    parser.add_argument("--options", type=json.loads, default={}, help="options of tunec.compile as JSON")
    arguments = parser.parse_args()
    if unknown := set(arguments.families) - set(FAMILIES):
        parser.error(f"unknown family {', '.join(sorted(unknown))}, expected {', '.join(FAMILIES)}")
    total = collections.Counter()
    for name in arguments.families or FAMILIES:
        deadline = time.monotonic() + arguments.seconds if arguments.seconds else None
        numbers = range(arguments.first, arguments.first + arguments.count)
        counts = run_family(name, arguments.seed, numbers, arguments.options, deadline)
        print(f"{name}: {', '.join(f'{count} {ending}' for ending, count in sorted(counts.items()))}", flush=True)
        total += counts
    print(f"total: {', '.join(f'{count} {ending}' for ending, count in sorted(total.items()))}")
    return 1 if total["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
