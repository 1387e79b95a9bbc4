#!/usr/bin/env python3
"""Tests which files and folders tools/check_packed.py rejects."""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_packed  # noqa: E402

NEEDED = " 0x0000000000000001 (NEEDED)             Shared library: [{}]\n"


class Files(unittest.TestCase):
    def needs(self, file, *libraries):
        return [*check_packed.check_needs(file, "".join(map(NEEDED.format, libraries)))]

    def test_need_libc_alone(self):
        self.assertEqual(self.needs("bin/tunec", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"), [])
        self.assertEqual(self.needs("bin/tunec", "libc.so.6", "libLLVM.so.22.1", "libcrypt.so.1"),
                         ["bin/tunec needs libLLVM.so.22.1", "bin/tunec needs libcrypt.so.1"])

    def test_but_nvidia_s_need_libgcc(self):
        self.assertEqual(self.needs("bin/ptxas", "libc.so.6", "libgcc_s.so.1"), [])
        self.assertEqual(self.needs("bin/tunec", "libgcc_s.so.1"), ["bin/tunec needs libgcc_s.so.1"])
        self.assertEqual(self.needs("bin/ptxas", "libstdc++.so.6"), ["bin/ptxas needs libstdc++.so.6"])

    def test_need_no_new_glibc(self):
        symbols = ("0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.35) hypot\n"
                   "0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free\n"
                   "0000000000000000 g    DF .text\t0000000000000018  Base        tunec_release\n")
        self.assertEqual([*check_packed.check_glibc("bin/tunec", symbols)], [])
        newer = symbols + "0000000000000000      DF *UND*\t0000000000000041 (GLIBC_2.36) arc4random\n"
        self.assertEqual([*check_packed.check_glibc("bin/tunec", newer)],
                         ["bin/tunec needs arc4random of glibc 2.36"])

    def test_show_the_c_interface_alone(self):
        interface = "0000000000001000 T tunec_compile\n"
        self.assertEqual([*check_packed.check_exports("lib/libtunec.so", interface)], [])
        # The linker puts copies of libc's variables into a program. They are allowed.
        copies = "0000000003860b60 B stderr@GLIBC_2.2.5\n"
        self.assertEqual([*check_packed.check_exports("bin/tunec", copies)], [])
        self.assertEqual([*check_packed.check_exports("bin/tunec", interface)], ["bin/tunec shows tunec_compile"])
        llvm = interface + "0000000000002000 V _ZN4llvm3cl9AllowUndefE\n"
        self.assertEqual([*check_packed.check_exports("lib/libtunec.so", llvm)],
                         ["lib/libtunec.so shows _ZN4llvm3cl9AllowUndefE"])


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tunec-check-packed-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for file in check_packed.FILES:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(shutil.which("true"), self.folder / file)

    def test_are_whole(self):
        self.assertEqual([*check_packed.check_files(self.folder)], [])
        (self.folder / "bin/tunec-worker").unlink()
        (self.folder / "include/tunec/tunec.h").unlink()
        self.assertEqual([*check_packed.check_files(self.folder)],
                         ["there is no bin/tunec-worker", "there is no include/tunec/tunec.h"])

    def test_hold_no_program_with_libraries(self):
        shutil.copy(TUNEC, self.folder / "bin/tunec")
        self.assertIn("bin/tunec needs libLLVM", "\n".join(check_packed.check_files(self.folder)))

    def test_a_run_that_fails_is_told(self):
        self.assertEqual([*check_packed.check_run("verify", "/bin/sh", "-c", "test -z \"$HOME\"")], [])
        problem, = check_packed.check_run("verify", "/bin/sh", "-c", "echo far off; exit 1")
        self.assertEqual(problem, "verify: exit code 1\nfar off\n")


if __name__ == "__main__":
    TUNEC = sys.argv.pop()
    unittest.main()
