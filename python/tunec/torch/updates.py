"""Which outputs of a compiled part may be written where an argument lies.

AOTAutograd says that a model changes a buffer by a copy at the graph's end:

    fused_0 = self.fused_0(keys, x)
    copy_ = torch.ops.aten.copy_.default(keys, fused_0)

A part that writes the buffer itself leaves that copy nothing to do.
"""
import operator

import torch


def updates_of(module):
    """For each call of a part, by its target: for the number of an output the name of the part's
    placeholder that it replaces."""
    updates = {}
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


def _part_of(value):
    """The call that makes a value, and which of its outputs the value is."""
    if value.op == "call_module":
        return value, 0
    if value.target is operator.getitem and value.args[0].op == "call_module":
        return value.args[0], value.args[1]
    return None, None


def _is_free(buffer, value, part, copy, order):
    """Whether nobody reads the buffer after the part, nor has the value for anything else. Other users
    of the buffer have to be parts: what torch runs may be a view of it."""
    if buffer.op != "placeholder" or set(value.users) != {copy}:
        return False
    return all(user in (part, copy) or (user.op == "call_module" and order[user] < order[part])
               for user in buffer.users)
