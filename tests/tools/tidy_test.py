"""Tests of tools/tidy.py, with a fake clang-tidy that finds the word BAD and records its requests.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TIDY = Path(__file__).resolve().parents[2] / "tools" / "tidy.py"
NINJA = """rule cc
  command = gcc -MD -MF $out.d -c $in -o $out
  deps = gcc
  depfile = $out.d
build a.o: cc ../a.c
build b.o: cc ../b.c
build unity.o: cc unity.cxx
"""
PROGRAM = """#!/bin/sh
if [ "$1" = --version ]; then cat version; exit; fi
for last; do :; done
echo "$*" >>commands
echo "${last##*/}" >>asked
if grep -q BAD "$last"; then echo "$last: BAD"; exit 1; fi
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "build").mkdir()
        self.write("build/build.ninja", NINJA)
        entries = [{"directory": str(self.root / "build"), "file": str(self.root / f"{name}.c"),
                    "command": f"gcc -c ../{name}.c -o {name}.o"} for name in "ab"]
        entries.append({"directory": str(self.root / "build"), "file": str(self.root / "build/unity.cxx"),
                        "command": "gcc -c unity.cxx -o unity.o"})
        self.write("build/compile_commands.json", json.dumps(entries))
        self.write("a.c", '#include "shared.h"\n')
        self.write("b.c", "int b;\n")
        self.write("shared.h", "int shared;\n")
        self.write("build/unity.cxx", '#include "../inner/c.cc"\n#include "../inner/d.cc"\n')
        (self.root / "inner").mkdir()
        self.write("inner/c.cc", "int c;\n")
        self.write("inner/d.cc", "int d;\n")
        self.write("inner/.clang-tidy", "Checks: three\n")
        self.write(".clang-tidy", "Checks: one\n")
        self.write("version", "22\n")
        self.write("clang-tidy", PROGRAM)
        (self.root / "clang-tidy").chmod(0o755)
        self.asked()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def asked(self, *options, files=("a.c", "b.c")):
        """Builds and runs tidy.py on the files. Returns the checked files, the exit code and the output."""
        subprocess.run(["ninja", "-C", "build"], cwd=self.root, check=True, capture_output=True)
        (self.root / "asked").write_text("")
        done = subprocess.run([sys.executable, TIDY, "--tidy", "./clang-tidy", *options, *files],
                              cwd=self.root, capture_output=True, text=True)
        return sorted((self.root / "asked").read_text().split()), done.returncode, done.stdout

    def test_clean_files_are_not_asked_for_again(self):
        files, code, _ = self.asked()
        self.assertEqual((files, code), ([], 0))

    def test_what_a_file_includes_counts(self):
        self.write("shared.h", "long shared;\n")
        self.assertEqual(self.asked()[0], ["a.c"])

    def test_configuration_version_and_command_count(self):
        for name, text in ((".clang-tidy", "Checks: two\n"), ("version", "23\n")):
            self.write(name, text)
            self.assertEqual(self.asked()[0], ["a.c", "b.c"], name)
        commands = (self.root / "build/compile_commands.json").read_text()
        self.write("build/compile_commands.json", commands.replace("-c ../b.c", "-O2 -c ../b.c"))
        self.assertEqual(self.asked()[0], ["b.c"])

    def test_findings_are_printed_each_time(self):
        self.write("b.c", "int b;  // BAD\n")
        for _ in range(2):
            files, code, printed = self.asked()
            self.assertEqual((files, code), (["b.c"], 1))
            self.assertIn("b.c: BAD", printed)

    def test_files_beyond_the_time_are_counted(self):
        self.write("shared.h", "long shared;\n")
        self.assertEqual(self.asked("--seconds", "0"), ([], 0, "1 of 2 units are not known to be clean\n"
                                                        "1 of 1 units were not reached in 0 s\n"))
        self.assertEqual(self.asked("--seconds", "60")[:2], (["a.c"], 0))

    def test_files_that_are_compiled_together_are_checked_together(self):
        together = ("inner/d.cc", "inner/c.cc")
        self.assertEqual(self.asked(files=together)[0], ["unity.cxx"])
        command = (self.root / "commands").read_text().splitlines()[-1]
        self.assertIn(f"--config-file={self.root}/inner/.clang-tidy", command)
        self.write("inner/.clang-tidy", "Checks: four\n")
        self.assertEqual(self.asked(files=("a.c", *together))[0], ["unity.cxx"])
        self.assertEqual(self.asked(files=together)[0], [])

    def test_files_that_are_not_compiled_are_left_out(self):
        self.write("e.cc", "int e;  // BAD\n")
        self.assertEqual(self.asked(files=("e.cc",)), ([], 0, "0 of 0 units are not known to be clean\n"))

    def test_a_file_that_takes_longer_is_not_reached(self):
        self.write("version", "23\n")
        self.write("clang-tidy", PROGRAM + "exec sleep 60\n")
        files, code, printed = self.asked("--seconds", "2")
        self.assertEqual((files, code), (["a.c", "b.c"], 0))
        self.assertIn("2 of 2 units were not reached in 2 s", printed)


if __name__ == "__main__":
    unittest.main()
