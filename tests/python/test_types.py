"""Tests that all public names are annotated and that _native.pyi agrees with the native module."""
import ast
import unittest
from pathlib import Path

import tunec

PACKAGE = Path(tunec.__file__).parent


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def public_names(module):
    """Returns the names of `__all__`."""
    [names] = [statement.value for statement in module.body if isinstance(statement, ast.Assign)
               and [target.id for target in statement.targets] == ["__all__"]]
    return ast.literal_eval(names)


def functions_of_all(definition):
    """Yields (name, node) for a function, or for all functions of a class."""
    if isinstance(definition, ast.FunctionDef):
        yield definition.name, definition
        return
    for part in definition.body:
        if isinstance(part, ast.FunctionDef):
            yield f"{definition.name}.{part.name}", part


def functions_of(definition):
    """Yields (name, node) for a function, or for a class's public and special methods."""
    for name, node in functions_of_all(definition):
        if node is definition or not node.name.startswith("_") or node.name.endswith("__"):
            yield name, node


def definitions(path):
    """Yields (name, node) for each function and class of a module."""
    for node in parsed(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node


def public_definitions(init):
    """Yields the definitions behind the names of `__all__`. They are read from the sources, because
    the interpreter of these tests need not have torch."""
    module = parsed(init)
    names = set(public_names(module))
    paths = [init] + [init.parent / f"{part.module}.py" for part in module.body
                      if isinstance(part, ast.ImportFrom) and part.level == 1]
    for path in paths:
        for name, node in definitions(path):
            if name in names:
                yield name, node


def parameters_of(function):
    """Returns all parameters of a function except self."""
    given = function.args
    several = [parameter for parameter in (given.vararg, given.kwarg) if parameter is not None]
    return [p for p in (*given.posonlyargs, *given.args, *given.kwonlyargs, *several) if p.arg != "self"]


def not_annotated(function):
    missing = [p.arg for p in parameters_of(function) if p.annotation is None]
    return missing + (["return"] if function.returns is None else [])


def is_property(function):
    return any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)


def stub_signatures(path):
    """Returns, by name, the parameters of each function of the stub; None for a property."""
    return {name: None if is_property(function) else [p.arg for p in parameters_of(function)]
            for _, node in definitions(path) for name, function in functions_of_all(node)}


def native_signatures(module):
    """Returns the same as stub_signatures, for the native module."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("__"):
            continue
        if not isinstance(value, type):
            found[name] = native_parameters(value)
            continue
        for part, member in vars(value).items():
            if isinstance(member, property):
                found[f"{name}.{part}"] = None
            elif hasattr(member, "__nb_signature__"):
                found[f"{name}.{part}"] = native_parameters(member)
    return found


def native_parameters(function):
    [(signature, *_)] = function.__nb_signature__
    [definition] = ast.parse(signature + ": ...").body
    return [p.arg for p in parameters_of(definition)]


class Types(unittest.TestCase):

    def check_annotated(self, init):
        checked = 0
        for _, node in public_definitions(init):
            for name, function in functions_of(node):
                checked += 1
                self.assertEqual(not_annotated(function), [], f"{name} in {init} has no annotations of these")
        self.assertGreater(checked, 5)

    def test_every_public_name_is_found(self):
        for init in (PACKAGE / "__init__.py", PACKAGE / "torch/__init__.py"):
            found = {name for name, _ in public_definitions(init)} | {"Executable", "Progress"}
            self.assertEqual(set(public_names(parsed(init))) - found, set())

    def test_the_package_is_annotated(self):
        self.check_annotated(PACKAGE / "__init__.py")

    def test_the_torch_package_is_annotated(self):
        self.check_annotated(PACKAGE / "torch/__init__.py")

    def test_reports_and_the_backend_are_annotated(self):
        nodes = dict(definitions(PACKAGE / "torch/reports.py"))
        nodes["tunec"] = dict(definitions(PACKAGE / "torch/backend.py"))["tunec"]
        for node in nodes.values():
            for name, function in functions_of(node):
                self.assertEqual(not_annotated(function), [], f"{name} has no annotations of these")

    def test_the_stub_agrees_with_the_native_module(self):
        from tunec._library import native
        self.assertEqual(stub_signatures(PACKAGE / "_native.pyi"), native_signatures(native()))

    def test_every_function_of_the_stub_is_annotated(self):
        for _, node in definitions(PACKAGE / "_native.pyi"):
            for name, function in functions_of_all(node):
                self.assertEqual(not_annotated(function), [], f"{name} has no annotations of these")


if __name__ == "__main__":
    unittest.main()
