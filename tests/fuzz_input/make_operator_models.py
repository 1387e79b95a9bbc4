#!/usr/bin/env python3
"""Writes corpus/onnx/operators. Each operator gets its smallest case in the onnx wheel, and the
case with most of its attributes and operands. From these models the fuzzer reaches every handler of
the importer.

    make_operator_models.py            # needs the Python packages of tools/dev onnx-answers
"""
from pathlib import Path

from compare_onnxruntime import node_cases

FOLDER = Path(__file__).resolve().parent / "corpus" / "onnx" / "operators"
MOST_BYTES = 4096  # the fuzzer's largest input


def single_operators():
    """Returns the one-node models of each operator. A model is a pair of its bytes and the number
    of its attributes and operands."""
    models = {}
    for _, model in node_cases():
        node, *others = model.graph.node
        data = model.SerializeToString()
        if not others and not model.functions and len(data) <= MOST_BYTES:
            models.setdefault(node.op_type, []).append((data, len(node.attribute) + len(node.input)))
    return models


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for operator, models in single_operators().items():
        smallest, _ = min(models, key=lambda model: len(model[0]))
        whole, _ = max(models, key=lambda model: (model[1], -len(model[0])))
        (FOLDER / f"{operator.lower()}.onnx").write_bytes(smallest)
        if whole != smallest:
            (FOLDER / f"{operator.lower()}_whole.onnx").write_bytes(whole)


if __name__ == "__main__":
    main()
