#!/usr/bin/env python3
"""Tests the findings of tools/check_binaries.py in libraries that this test links.

    check_binaries_test.py COMPILER
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_binaries  # noqa: E402

HARD = ("-Wl,-z,relro,-z,now",)
SOFT = ("-Wl,-z,norelro,-z,lazy",)
COMPILER = "gcc"


class Binaries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-check-binaries-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def link(self, *flags):
        source, made = self.folder / "a.c", self.folder / "liba.so"
        source.write_text("int f(void) { return 1; }\n")
        subprocess.run([COMPILER, "-shared", "-fPIC", *flags, source, "-o", made], check=True)
        return made

    def problems(self, *flags, hardened=False):
        return [*check_binaries.problems(self.link(*flags), hardened)]

    def test_have_no_path_or_a_fixed_one(self):
        for path in ("/usr/lib", "$ORIGIN", "$ORIGIN/../lib", "/a:/b"):
            self.assertEqual(self.problems(f"-Wl,-rpath,{path}"), [], path)
        self.assertEqual(self.problems(), [])

    def test_do_not_lead_to_the_current_folder(self):
        for path in ("/usr/lib:", ":/usr/lib", "/a::/b", ".", "lib", "$ORIGINS", "/a:../lib"):
            [problem] = self.problems(f"-Wl,-rpath,{path}")
            self.assertIn("depends on the current folder", problem)

    def test_are_hardened(self):
        self.assertEqual(self.problems(*HARD, hardened=True), [])
        self.assertEqual(len(self.problems(*SOFT, hardened=True)), 2)
        self.assertEqual(self.problems(*SOFT), [])

    def test_are_found_in_folders(self):
        made = self.link(*HARD)
        (self.folder / "deep").mkdir()
        (self.folder / "deep" / "text").write_text("no ELF file")
        (self.folder / "link.so").symlink_to(made)
        subprocess.run([COMPILER, "-c", self.folder / "a.c", "-o", self.folder / "deep" / "a.o"], check=True)
        self.assertEqual(check_binaries.files_of(self.folder), [made])


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
