#!/usr/bin/env python3
"""Tests that layering.py finds each kind of violation in a small tree of files."""
import tempfile
import unittest
from pathlib import Path

import layering

LAYERS = """
folder support
folder ir support
folder graph support ir
folder polyhedral support ir
folder schedule support ir polyhedral
folder jit support ir
folder device support ir jit
target jit tunec_jit fmt::fmt tunec_support tunec_ir tunec_llvm
interface jit tunec_jit fmt::fmt tunec_support tunec_ir $<LINK_ONLY:tunec_llvm>
target tools tunec_command tunec_jit CLI11::CLI11
"""

FILES = {
    "support/error.h": "#include <string>\n",
    "ir/type.h": '#include "support/error.h"\n',
    "polyhedral/isl_handles.h": "#include <isl/cpp.h>\n",
    "polyhedral/domain.h": '#include "ir/type.h"\n',
    "polyhedral/domain.cc": '#include "polyhedral/domain.h"\n#include "polyhedral/isl_handles.h"\n',
    "schedule/steps/step.h": '#include "polyhedral/domain.h"\n',
    "jit/emit.cc": '#include <llvm/IR/IRBuilder.h>\n#include "ir/type.h"\n',
    "tools/main.cc": '#include "jit/emit.h"\n#include "tunec/tunec.h"\n',
    "jit/emit.h": "",
    "api/include/tunec/tunec.h": "",
}


class LayeringTest(unittest.TestCase):
    def violations(self, files=None, layers=""):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for path, text in {**FILES, **(files or {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return layering.check(root, layering.Layers(LAYERS + "target api tunec\n" + layers))

    def expect(self, expected, files=None, layers=""):
        found = self.violations(files, layers)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_sound_tree(self):
        found = self.violations({"tools/main.cc": '#include "jit/emit.h"\n'})
        self.assertEqual(found, [])

    def expect_include(self, expected, path, include):
        sound = {"tools/main.cc": ""}
        self.expect(expected, {**sound, path: f"#include {include}\n"})

    def test_upward_include(self):
        self.expect_include("ir/type.h:1: graph/graph.h does not exist", "ir/type.h", '"graph/graph.h"')
        self.expect_include("support/error.h:1: ir/type.h: support does not depend on ir",
                            "support/error.h", '"ir/type.h"')

    def test_sideways_include(self):
        self.expect_include("jit/emit.h:1: polyhedral/domain.h: jit does not depend on polyhedral",
                            "jit/emit.h", '"polyhedral/domain.h"')

    def test_undeclared_public_interface(self):
        self.expect_include("tools does not depend on api", "tools/main.cc", '"tunec/tunec.h"')

    def test_relative_include(self):
        self.expect_include("domain.h does not exist", "polyhedral/other.cc", '"domain.h"')

    def test_third_party_outside_its_folder(self):
        self.expect_include("LLVM belongs to jit", "ir/other.cc", "<llvm/IR/Type.h>")
        self.expect_include("SQLite belongs to db", "ir/other.cc", "<sqlite3.h>")
        self.expect_include("ONNX belongs to the tests alone", "graph/other.cc", "<onnx/onnx_pb.h>")
        self.expect_include("CUDA belongs to jit and runtime", "ir/other.cc", "<cuda.h>")

    def test_third_party_in_a_header(self):
        self.expect_include("a header must not include LLVM", "jit/emit.h", "<llvm/IR/Type.h>")
        self.expect_include("a header must not include isl", "polyhedral/domain.h", "<isl/map.h>")

    def test_kind_of_target(self):
        sound = {"jit/cpu/load.h": "", "tools/main.cc": "",
                 "device/open_device.cc": '#include "jit/cpu/load.h"\n'}
        self.assertEqual(self.violations(sound), [])
        self.expect("tools/main.cc:1: jit/cpu/load.h belongs to one kind of target",
                    {**sound, "tools/main.cc": '#include "jit/cpu/load.h"\n'})
        allowed = {**sound, "tools/commands/doctor.cc": '#include "jit/cpu/load.h"\n'}
        self.assertEqual(self.violations(allowed), [])
        self.expect("tools/commands/doctor.cc: includes nothing of jit/cpu/ or jit/cuda/ or runtime/cuda/ any more",
                    {**allowed, "tools/commands/doctor.cc": ""})

    def test_wrapper_leaks(self):
        self.expect_include("schedule/steps/step.h:1: polyhedral/domain.h leads to polyhedral/isl_handles.h",
                            "polyhedral/domain.h", '"polyhedral/isl_handles.h"')

    def test_depends_upward(self):
        self.expect("ir/CMakeLists.txt: DEPENDS jit: it does not stand below ir",
                    {"tools/main.cc": ""}, "folder ir support jit\n")

    def test_depends_on_forbidden(self):
        self.expect("db must not depend on ir", {"tools/main.cc": ""}, "folder db support ir\n")

    def test_link_without_depends(self):
        self.expect("tunec_jit links tunec_graph, but DEPENDS lacks graph", {"tools/main.cc": ""},
                    "target jit tunec_jit tunec_graph\n")

    def test_third_party_link(self):
        self.expect("SQLite belongs to db", {"tools/main.cc": ""}, "target ir tunec_ir SQLiteCpp\n")
        self.expect("tunec_jit hands on tunec_llvm: LLVM must be PRIVATE", {"tools/main.cc": ""},
                    "interface jit tunec_jit tunec_llvm\n")

    def test_unknown_folder(self):
        self.expect("folder 'utils' has no place", {"tools/main.cc": ""}, "folder utils\n")


if __name__ == "__main__":
    unittest.main()
