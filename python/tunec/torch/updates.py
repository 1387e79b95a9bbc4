"""Finds outputs of a compiled part that may be written into the memory of an argument.

AOTAutograd represents a change of a buffer by a copy at the graph's end:

    fused_0 = self.fused_0(keys, x)
    copy_ = torch.ops.aten.copy_.default(keys, fused_0)

If the part writes its result into the buffer itself, torch has nothing to copy.
"""
import operator
from typing import Any

import torch
from torch import fx


def updates_of(module: fx.GraphModule) -> dict[str, dict[int, str]]:
    """Finds outputs that a part may write into the memory of an argument. The outer key of the result
    is the target of the part's call. The inner dict maps an output's index to the name of the
    part's placeholder for that argument."""
    updates: dict[str, dict[int, str]] = {}
    order = {node: i for i, node in enumerate(module.graph.nodes)}
    for copy in module.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        buffer, value = copy.args[:2]
        part, number = _part_of(value)
        if part is None or buffer not in part.args or not _is_free(buffer, value, part, copy, order):
            continue
        inner = module.get_submodule(part.target).graph.find_nodes(op="placeholder")
        names = [node.name for node in inner]
        updates.setdefault(part.target, {})[number] = names[part.args.index(buffer)]
    return updates


def _part_of(value: fx.Node) -> tuple[Any, Any]:
    """Returns the part's call that makes a value, and the index of the value among its outputs."""
    if value.op == "call_module":
        return value, 0
    if value.target is operator.getitem and value.args[0].op == "call_module":
        return value.args[0], value.args[1]
    return None, None


def _is_free(buffer: fx.Node, value: fx.Node, part: fx.Node, copy: fx.Node, order: dict[fx.Node, int]) -> bool:
    """Tests that no node reads the buffer after the part, and that the value has no other user.
    Other users of the buffer must be parts, since an operator that torch runs may make a view of
    the buffer."""
    if buffer.op != "placeholder" or set(value.users) != {copy}:
        return False
    return all(user in (part, copy) or (user.op == "call_module" and order[user] < order[part])
               for user in buffer.users)
