"""Reads .pt2 files of torch.export.save without running code from the file.

torch.export.load unpickles parts of such a file, evaluates texts and loads libraries from the file.
This reader accepts only plain tensors as weights, constants and sample inputs. Texts must match
what torch writes for expressions of sizes. All other content is rejected.
"""
import ast
import io
import json
import math
import operator
import os
import re
import sys

import torch
from torch.export import ExportedProgram

from .._errors import Error, InvalidArgument, NotFound, Unsupported
from .errors import first_line

try:
    from torch._export.serde import schema
    from torch._export.serde.serialize import ExportedProgramDeserializer, _bytes_to_dataclass
    from torch.export.pt2_archive import _package
    from torch.export.pt2_archive import constants as archive_paths
    HAS_READER = hasattr(_package, "_load_state_dict") and hasattr(_package, "_load_constants")
except (ImportError, AttributeError):  # another version of torch
    HAS_READER = False

_REMEDY = ("if you trust the file, load it by torch.export.load and compile the program that it "
           "returns")

# Names that torch writes as functions into expressions of sizes.
_FUNCTIONS = frozenset((
    "Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "Max", "Min", "Abs", "Eq", "Ne", "Lt",
    "Le", "Gt", "Ge", "Equality", "Unequality", "StrictLessThan", "LessThan", "StrictGreaterThan",
    "GreaterThan", "And", "Or", "Not", "Piecewise", "ExprCondPair", "Tuple", "Where", "Mod", "PythonMod",
    "FloorDiv", "CleanDiv", "CeilDiv", "CeilToInt", "FloorToInt", "TruncToInt", "RoundToInt",
    "RoundDecimal", "ToFloat", "TruncToFloat", "IntTrueDiv", "FloatTrueDiv", "FloatPow", "PowByNatural",
    "ModularIndexing", "Identity", "LShift", "RShift", "BitwiseFn_bitwise_and", "BitwiseFn_bitwise_or",
    "OpaqueUnaryFn_sqrt", "OpaqueUnaryFn_exp", "OpaqueUnaryFn_log", "OpaqueUnaryFn_log2", "floor",
    "ceiling", "sqrt", "exp", "log", "int", "float", "max", "min", "abs"))
# Attributes of a tensor that guards may read.
_ATTRIBUTES = frozenset(("size", "stride", "storage_offset", "dim", "shape", "ndim"))
_NAME = re.compile(r"[\w.+-]*")
_PARTS = (ast.Expression, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Tuple,
          ast.keyword, ast.Load, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


def load_program(path: str | os.PathLike[str]) -> ExportedProgram:
    """Returns the torch.export.ExportedProgram of a .pt2 file. Raises Unsupported, NotFound or
    InvalidArgument."""
    path = os.fspath(path)
    if not HAS_READER:
        raise Unsupported(f"the reader of .pt2 files in torch {torch.__version__} is not known: load "
                          f"{path} by torch.export.load")
    if not os.path.exists(path):
        raise NotFound(f"{path}: no such file")
    try:
        with _package.PT2ArchiveReader(path) as archive:
            program = _program_of(archive, path)
    except Error:
        raise
    except Exception as fault:  # torch's reader raises arbitrary exceptions
        raise InvalidArgument(f"{path} is not a readable .pt2 file: {first_line(fault)}") from fault
    _check_targets(program, path)
    return program


def _program_of(archive, path):
    names = archive.get_file_names()
    models = [name for name in names if name.startswith(archive_paths.MODELS_DIR)]
    if len(models) != 1:
        raise InvalidArgument(f"{path} has {len(models)} programs, expected one of torch.export.save")
    name = models[0].removeprefix(archive_paths.MODELS_DIR).removesuffix(".json")
    text = archive.read_bytes(models[0])
    _check_texts(json.loads(text), path)
    plain = _Plain(archive, path)
    return ExportedProgramDeserializer().deserialize(
        _bytes_to_dataclass(schema.ExportedProgram, text), _package._load_state_dict(plain, name),
        _package._load_constants(plain, name), plain.samples(name))


class _Plain:
    """An archive for torch's functions that read weights and constants. Tensors that the file
    stores as a pickle are loaded with weights_only and serialized again for these functions."""

    def __init__(self, archive, path):
        self._archive, self._path = archive, path
        self.archive_file = archive.archive_file

    def get_file_names(self):
        return self._archive.get_file_names()

    def read_string(self, name):
        return self._archive.read_string(name)

    def read_bytes(self, name):
        kind = os.path.basename(name)
        if kind.startswith((archive_paths.CUSTOM_OBJ_FILENAME_PREFIX, _OPAQUE)):
            raise InvalidArgument(f"{self._path} has an object that only a pickle holds, {name}: "
                                  f"{_REMEDY}")
        tensors = io.BytesIO()
        torch.save(self._tensors_of(name), tensors)
        return tensors.getvalue()

    def samples(self, name):
        """Returns the sample inputs, or None unless they are plain tensors and numbers."""
        try:
            found = self._tensors_of(archive_paths.SAMPLE_INPUTS_FILENAME_FORMAT.format(name))
        except InvalidArgument:
            return None
        return found if isinstance(found, tuple) and len(found) == 2 else None

    def _tensors_of(self, name):
        stored = io.BytesIO(self._archive.read_bytes(name))
        try:
            return torch.load(stored, weights_only=True, map_location="cpu")
        except Exception as fault:  # a pickle can raise anything
            raise InvalidArgument(f"{self._path} has more than tensors in {name}: {_REMEDY} "
                                  f"({type(fault).__name__})") from None


_OPAQUE = getattr(archive_paths, "OPAQUE_OBJ_FILENAME_PREFIX", "opaque_obj_") if HAS_READER else ""


def _check_texts(record, path):
    """Rejects modules that torch would import, and evaluated texts other than expressions of
    sizes."""
    if isinstance(record, dict):
        modules = {record.get("default_factory_module")}
        if "__enum__" in record:
            modules.add(str(record.get("fqn")).partition(":")[0])
        for module in modules - {None} - sys.modules.keys():
            raise InvalidArgument(f"{path} has values of the module {module}, which is not imported: "
                                  "import it first if you trust it")
        for key, value in record.items():
            _check_entry(key, value, path)
            _check_texts(value, path)
    elif isinstance(record, list):
        for value in record:
            _check_texts(value, path)
    elif isinstance(record, str) and record[:1] in "[{\"":
        try:
            inner = json.loads(record)
        except ValueError:
            return
        _check_texts(inner, path)


def _check_entry(key, value, path):
    if key == "expr_str":
        _check_expression(value, frozenset(), path)
    elif key == "guards_code":
        for guard in value or ():
            _check_expression(guard, _ATTRIBUTES, path)


def _check_expression(text, attributes, path):
    try:
        parts = ast.walk(ast.parse(text, mode="eval"))
        if all(_is_of_sizes(part, attributes) for part in parts):
            return
    except (SyntaxError, ValueError, TypeError):
        pass
    raise InvalidArgument(f"{path} has {text!r} where an expression of sizes is expected: {_REMEDY}")


def _is_of_sizes(part, attributes):
    if isinstance(part, ast.Attribute):
        return part.attr in attributes or _is_math(part)
    if isinstance(part, ast.Call):
        function = part.func
        is_method = isinstance(function, ast.Attribute)
        return is_method or (isinstance(function, ast.Name) and function.id in _FUNCTIONS)
    if isinstance(part, ast.Name):
        return not part.id.startswith("__")
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return _NAME.fullmatch(part.value) is not None  # sympy evaluates strings within expressions
    if isinstance(part, ast.Constant):
        return part.value is None or isinstance(part.value, (bool, int, float))
    return isinstance(part, _PARTS)


def _is_math(part):
    return isinstance(part.value, ast.Name) and part.value.id == "math" and hasattr(math, part.attr)


def _check_targets(program, path):
    """Rejects calls of functions other than operators, because tracing a program runs its
    functions."""
    of_numbers = {getattr(operator, name) for name in dir(operator) if name in _NUMBERS}
    of_numbers |= {value for value in vars(math).values() if callable(value)}
    of_numbers |= {value for name, value in vars(torch).items() if name.startswith(("sym_", "_sym_"))}
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            target = node.target
            is_operator = isinstance(target, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))
            if node.op == "call_function" and not is_operator and target not in of_numbers:
                raise InvalidArgument(f"{path} calls {target}, which is not an operator: {_REMEDY}")
            if node.op in ("call_method", "call_module"):
                raise InvalidArgument(f"{path} has a node {node.op}, expected operators: {_REMEDY}")


_NUMBERS = frozenset(("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs",
                      "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor", "not_", "getitem", "lshift",
                      "rshift", "invert"))
