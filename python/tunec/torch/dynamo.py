"""Hooks into Dynamo's tracing for this backend, before a graph exists.

If Dynamo cannot trace a function, the function runs in torch, and Dynamo does not call the backend.
Dynamo still calls its callbacks, so a warning can name the function and the reason. Recurrent
layers are traced only while this backend compiles.
"""
import dis
import os
import re
import sys
import threading
import types
import warnings

import torch
from torch._dynamo import config, exc
from torch._dynamo.callback import CallbackTrigger, callback_handler
from torch._dynamo.utils import graph_break_reasons

from .._errors import NotCompiledWarning
from .reports import SkippedFunction, record_skipped

# Dynamo's hints that do not help users.
_NO_REMEDY = ("It may be possible to write Dynamo", "This graph break is fundamental",
              "Please report")
# Better hints, by the function that Dynamo cannot trace.
_REMEDIES = {"_detect_is_causal_mask": "give the encoder is_causal=True or False, so that it need not "
                                       "read the mask"}
_OTHERWISE = "move the code that Dynamo cannot trace into a separate function, and compile the other functions"

_MOST_NAMED = 4  # largest number of nodes that a warning names

_ANOTHER = "*** While handling this graph break, another graph break occurred: ***"

# Prefix of the function that runs the rest of a function after a graph break.
_RESUMED = "torch_dynamo_resume_in_"

# Attributes and methods of a tensor that do not compute with its elements.
_FACTS = frozenset(("dim", "ndim", "shape", "size", "numel", "nelement", "dtype", "device", "stride",
                    "layout", "is_contiguous", "requires_grad", "storage_offset", "untyped_storage",
                    "data_ptr", "element_size", "type", "names", "grad", "is_floating_point"))

_thread = threading.local()  # per thread: allow_rnn and the count of graph breaks before a compilation
_warned: set[tuple[str, str, int | str]] = set()  # functions and nodes that a warning has named


def watch(backend):
    """Registers Dynamo's callbacks for a backend, for the lifetime of the process."""
    def started(arguments):
        if _frame_of(arguments, backend) is not None:
            _thread.allowed_before, _thread.breaks_before = config.allow_rnn, len(graph_break_reasons)
            config.allow_rnn = True

    def ended(arguments):
        frame = _frame_of(arguments, backend)
        if frame is None:
            return
        config.allow_rnn = _thread.allowed_before
        failure = sys.exc_info()[1]
        if isinstance(failure, exc.Unsupported) and not frame["one_graph"]:
            _tell(frame, failure)
        for broken in graph_break_reasons[_thread.breaks_before:] if failure is None else ():
            _tell_of_module(broken)

    # Dynamo calls these callbacks while it holds a lock. While a backward graph is compiled, Dynamo
    # traces every function that is called. Tracing a callback would then wait for the lock forever.
    started, ended = torch._dynamo.disable(started), torch._dynamo.disable(ended)

    def register():
        _warned.clear()
        callback_handler.register_start_callback(started)
        callback_handler.register_end_callback(ended)

    forget = callback_handler.clear

    def clear():  # called by torch._dynamo.reset
        forget()
        register()

    callback_handler.clear = clear
    register()


def _frame_of(arguments, backend):
    """Returns the local variables of Dynamo's `_compile` if it compiles for this backend, else
    None."""
    if arguments.callback_trigger is not CallbackTrigger.DYNAMO:
        return None
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "_compile":
        frame = frame.f_back
    if frame is None:
        return None
    found = frame.f_locals
    if not {"code", "compiler_fn", "locals", "one_graph"} <= found.keys():
        return None
    return found if _innermost(found["compiler_fn"]) is backend else None


def _innermost(compiler):
    while hasattr(compiler, "_torchdynamo_orig_backend"):
        compiler = compiler._torchdynamo_orig_backend
    return getattr(compiler, "compiler_fn", compiler)


def _tell(frame, failure):
    """Warns once of a function that computes with tensors and that Dynamo does not compile."""
    code, values = _function_of(frame["code"], frame["locals"])
    key = code.co_filename, _name_of(code), code.co_firstlineno
    if key in _warned or not _computes(failure, frame["code"], code, values):
        return
    _warned.add(key)
    place = f"{_name_of(code)} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
    stack = list(getattr(failure, "real_stack", None) or ())
    skipped = SkippedFunction(place, *_reason_and_remedy(str(failure), stack))
    record_skipped(skipped)
    warn(str(skipped), code.co_filename, code.co_firstlineno)


def _tell_of_module(broken):
    """Warns of a graph break in a function of torch.nn. Dynamo does not compile functions that are
    called from such a function either."""
    stack = list(broken.user_stack)
    call = next((at for at in stack if os.path.dirname(torch.nn.__file__) in at.filename), None)
    if call is None or (call.filename, call.name, call.lineno) in _warned:
        return
    _warned.add((call.filename, call.name, call.lineno))
    place = f"torch.nn's {call.name} ({os.path.basename(call.filename)}:{call.lineno})"
    skipped = SkippedFunction(place, *_reason_and_remedy(str(broken.reason), stack))
    record_skipped(skipped)
    users = [at for at in stack if os.path.dirname(torch.__file__) not in at.filename]
    at = users[-1] if users else call
    warn(str(skipped), at.filename, at.lineno)


def tell_of_left(nodes, where):
    """Warns once of each graph node that torch has to run. Nodes with random numbers always run in
    torch and are omitted. `where`: (file, line) for nodes without a location."""
    new = [node for node in nodes if node.operator != "placeholder" and not _is_random(node.operator)
           and (node.operator, node.reason, node.location) not in _warned]
    if not new:
        return
    _warned.update((node.operator, node.reason, node.location) for node in new)
    named = [f"{node.operator}: {node.reason}" for node in new]
    shown = "; ".join(dict.fromkeys(named[:_MOST_NAMED]))
    rest = f"; and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else ""
    line = re.match(r'File "(.*)", line (\d+)', new[0].location)
    warn(f"torch runs {len(new)} node(s) of a graph that tunec compiles: {shown}{rest}. "
         "tunec.torch.reports.explain names all.",
         *((line[1], int(line[2])) if line else where))


def _is_random(operator):
    target = torch.ops
    for name in operator.split("."):
        target = getattr(target, name, None)
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ())


def warn(text, filename, line):
    """Warns at a line of a file. Dynamo's callbacks must not raise: if a filter turns the warning into an
    exception, the text goes to stderr."""
    try:
        warnings.warn_explicit(text, NotCompiledWarning, filename, line)
    except Warning:
        print(f"{NotCompiledWarning.__name__}: {text}", file=sys.stderr)


def _function_of(code, values):
    """Returns the code of the user's function and the values of its variables. Dynamo calls a
    torch.nn module through an inner function."""
    called = values.get("fn") if code.co_filename.endswith("external_utils.py") else None
    if called is None:
        return code, values
    if isinstance(called, torch.nn.Module):
        called = called.forward
    found = getattr(getattr(called, "__func__", called), "__code__", code)
    return found, {**values, "self": getattr(called, "__self__", None)}


def _name_of(code):
    """Returns the name of a function. Dynamo renames the rest of a function after a graph break."""
    if code.co_name.startswith(_RESUMED):
        return code.co_name.removeprefix(_RESUMED).rpartition("_at_")[0]
    return code.co_qualname


def _reason_and_remedy(message, stack):
    """Returns the reason and the hints of Dynamo's message, one line each. `stack`: the call
    stack."""
    breaks = [part.strip() for part in message.split(_ANOTHER)]
    lines = [line.strip() for line in breaks[0].splitlines()]
    reasons = [lines[0]] + [part.splitlines()[0] for part in breaks[1:] if part]
    explained = [line.removeprefix("Explanation: ") for line in lines
                 if line.startswith("Explanation: ")]
    locations = [f"at {os.path.basename(at.filename)}:{at.lineno}: {at.line}" for at in stack[-1:]]
    reason = "; ".join([*reasons, *(text.rstrip(".") for text in explained), *locations])
    hints = [line.removeprefix("Hint: ").rstrip(".") for line in lines if line.startswith("Hint: ")]
    hints = [_REMEDIES[at.name] for at in stack[-1:] if at.name in _REMEDIES] or [
        hint for hint in hints if not hint.startswith(_NO_REMEDY)]
    return reason, "; ".join(hints) or _OTHERWISE


def _computes(failure, traced, code, values):
    """Tests if a function computes with tensors: Dynamo has traced calls, or the code names
    operations and has tensors or modules as operands."""
    output = getattr(getattr(failure, "_torch_dynamo_tracer_output", None), "output_graph", None)
    try:
        if output is not None and output.count_calls() > 0:
            return True
    except Exception:  # a graph that has been cleared
        pass
    held = list(values.values())
    modules = [value for value in held if isinstance(value, torch.nn.Module)]
    if not modules and not _holds_tensors(held):
        return False
    called = {name for module in modules for name, _ in module.named_children()}
    return any(_names_operations(c, called) for c in (traced, code))


def _holds_tensors(values, depth=2):
    for value in values:
        if isinstance(value, torch.Tensor):
            return True
        inner = value.values() if isinstance(value, dict) else value
        if depth and isinstance(value, (dict, list, tuple)) and _holds_tensors(inner, depth - 1):
            return True
    return False


def _names_operations(code, modules):
    names = {name for name in code.co_names if name not in _FACTS}
    if "torch" in names or names & modules or any(hasattr(torch.Tensor, name) for name in names):
        return True
    if any(step.opname == "BINARY_OP" for step in dis.get_instructions(code)):
        return True
    return any(_names_operations(inner, modules) for inner in code.co_consts
               if isinstance(inner, types.CodeType))
