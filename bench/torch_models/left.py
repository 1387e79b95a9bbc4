#!/usr/bin/env python3
"""Lists the nodes of models' graphs that tunec leaves to torch, in inference or training.

    left.py [NAME...] [--train]

Compiles nothing. Prints a line per model: the number of Dynamo's graphs, the number of parts that
would be compiled, and the remaining nodes with reasons. In training, the model has dropout, a batch
of two, and the sum of its outputs as the loss.
"""
import argparse
import collections
import sys
import traceback
from pathlib import Path

import torch
from torch._dynamo.backends.common import aot_autograd
from torch.utils import _pytree as pytree

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tunec.torch import aot_decompositions  # noqa: E402
from tunec.torch.partitions import partition  # noqa: E402

from compare import tensors_of  # noqa: E402
from models import MODELS  # noqa: E402


class Graphs:
    """A backend that runs graphs in torch and records how they would be partitioned."""

    def __init__(self):
        self.count, self.parts, self.left = 0, 0, collections.Counter()
        self.compile = aot_autograd(fw_compiler=self._note, bw_compiler=self._note,
                                    decompositions=aot_decompositions(), keep_inference_input_mutations=True)

    def _note(self, graph, _inputs):
        with torch._subclasses.fake_tensor.unset_fake_temporarily():
            parts = partition(graph)
        self.count += 1
        self.parts += len(parts.compiled)
        self.left.update(f"{node.operator}: {node.reason}" for node in parts.left)

        def run(arguments):
            with torch.no_grad():
                return parts.module(*arguments)
        run._boxed_call = True
        return run


def noted(name, train):
    """Returns the graphs of a model, after one run."""
    model, arguments = MODELS[name]()
    graphs = Graphs()
    torch._dynamo.reset()
    compiled = torch.compile(model.train(train), backend=graphs.compile)
    if not train:
        with torch.no_grad():
            compiled(**arguments)
        return graphs
    twice = pytree.tree_map_only(torch.Tensor, lambda t: torch.cat([t, t]), arguments)
    outputs = [t for t in tensors_of(compiled(**twice)) if t.requires_grad]
    sum(t.float().sum() for t in outputs).backward()
    return graphs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--train", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.names or MODELS:
        try:
            graphs = noted(name, arguments.train)
        except Exception:  # any model may fail in any way
            print(f"{name:20} FAILED {traceback.format_exc().strip().splitlines()[-1][:200]}", flush=True)
            continue
        left = ", ".join(f"{count} x {what}" for what, count in graphs.left.most_common())
        print(f"{name:20} graphs {graphs.count} parts {graphs.parts} left {left or 'nothing'}", flush=True)


if __name__ == "__main__":
    main()
