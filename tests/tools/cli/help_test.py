"""Tests of tunec's help, its man page, and bash completion."""
import re
import shutil
import subprocess

from cli_case import CliTest, main
from sample_models import GRAPH


class Help(CliTest):
    def test_help_as_a_command(self):
        self.assertEqual(self.good("help"), self.good("--help"))
        self.assertEqual(self.good("help", "bench"), self.good("bench", "--help"))
        self.assertEqual(self.good("help", "db", "list"), self.good("db", "list", "--help"))
        self.bad(2, "there is no command bnech; did you mean bench?", "help", "bnech")
        self.bad(2, "there is no command lsit of tunec db; did you mean list?", "help", "db", "lsit")

    def test_help_and_version(self):
        self.assertRegex(self.good("--version"), r"^tunec \d+\.\d+\.\d+\n$")
        text = self.good("--help")
        for command in ("run", "bench", "verify", "show", "opt", "db", "doctor", "--trials"):
            self.assertIn(command, text)
            if not command.startswith("-"):
                self.assertIn("tunec", self.good(command, "--help"))

    def test_the_page_of_man(self):
        page = self.good("help", "--man-page")
        for part in (".TH TUNEC 1", ".SS tunec bench", ".SS tunec db list", r"\-\-trials N", ".SH EXIT STATUS"):
            self.assertIn(part, page)
        self.assertEqual(page.count(r".B \-\-threads N"), 1, "an option of many commands is explained once")
        for line in page.splitlines():
            self.assertRegex(line, r"^(\.([A-Z]{1,2}|br)( |$)|[^.'])")  # a macro, or plain text
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("--unfused", re.sub(".\b", "", done.stdout))

    def complete(self, *words):
        """Returns bash's completions of the last word."""
        script = self.file("tunec.bash", self.good("help", "--bash-completion"))
        ask = (f"source {script}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _tunec; "
               'printf "%s\\n" "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True,
                              cwd=self.dir).stdout.split()

    def test_completion(self):
        self.file("bench.graph", GRAPH)
        self.assertEqual(self.complete("tunec", "ben"), ["bench", "bench.graph"])
        self.assertEqual(self.complete("tunec", "bench", "--unf"), ["--unfused"])
        self.assertEqual(self.complete("tunec", "--tri"), ["--trials"])
        self.assertEqual(self.complete("tunec", "db", "li"), ["list"])
        self.assertEqual(self.complete("tunec", "db", "prune", "--keep"), ["--keep-best"])
        self.assertEqual(self.complete("tunec", "run", "bench.g"), ["bench.graph"])

    def test_completion_and_man_page_know_every_option(self):
        page = self.good("help", "--man-page").replace("\\-", "-")
        for command in ("run", "bench", "verify", "show", "opt", "schedule", "doctor", "db list", "db prune"):
            words = command.split()
            options = set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.good(*words, "--help")))
            self.assertGreater(len(options), 1)
            self.assertLessEqual(options, set(self.complete("tunec", *words, "--")), command)
            for option in options:
                self.assertIn(option, page)


if __name__ == "__main__":
    main()
