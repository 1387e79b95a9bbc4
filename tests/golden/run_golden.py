#!/usr/bin/env python3
"""Runs golden files. A golden file has commands, their input and their expected output.

    run_golden.py --tunec PROGRAM FILE...

README.md in this folder describes the format. With TUNEC_BLESS=1 in the environment the
expectations are rewritten instead of compared. A wrong exit code is a failure either way. The exit
code is 1 if a test failed and 2 if a file is malformed.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SEPARATOR = "----"
STDERR_SEPARATOR = "---- stderr"
TIMEOUT_SECONDS = 300


class Malformed(Exception):
    """Raised if a golden file breaks the format."""


class Failed(Exception):
    """Raised if the outcome of a test is not the expected one."""


@dataclass
class Golden:
    """One golden file. `head` is the text before the expectation, unchanged."""
    path: Path
    head: str = ""
    commands: list = field(default_factory=list)
    exit_code: int = 0
    suffix: str = ".graph"
    input: str = ""
    stdout: str = ""
    stderr: str = ""


def parse(path):
    """Reads a golden file. Raises Malformed if the file breaks the format."""
    golden = Golden(path)
    lines = path.read_text().splitlines(keepends=True)
    keys = [i for i, line in enumerate(lines) if line.rstrip("\n") == SEPARATOR]
    if not keys:
        raise Malformed(f"{path}: expected a line '{SEPARATOR}' between input and output")
    separator = keys[0]
    begin = 0
    while begin < separator and lines[begin].startswith("#"):
        parse_header_line(golden, lines[begin], begin + 1)
        begin += 1
    if not golden.commands:
        raise Malformed(f"{path}: expected a line '# command: ...' in the header")
    golden.head = "".join(lines[:separator])
    golden.input = "".join(lines[begin:separator])
    expected = lines[separator + 1:]
    errors = [i for i, line in enumerate(expected) if line.rstrip("\n") == STDERR_SEPARATOR]
    split = errors[0] if errors else len(expected)
    golden.stdout, golden.stderr = "".join(expected[:split]), "".join(expected[split + 1:])
    return golden


def parse_header_line(golden, line, number):
    match = re.fullmatch(r"#\s*(\w+):\s*(.*?)\s*", line.rstrip("\n"))
    if not match:
        return
    key, value = match.groups()
    if key == "command":
        golden.commands.append(value)
    elif key == "exit" and re.fullmatch(r"\d+", value):
        golden.exit_code = int(value)
    elif key == "suffix" and re.fullmatch(r"\.\w+", value):
        golden.suffix = value
    else:
        raise Malformed(f"{golden.path}:{number}: unknown key or bad value '{key}: {value}'")


def run(golden, tunec):
    """Runs the commands in a new folder. Returns (stdout, stderr), with temporary paths replaced by
    names. Raises Failed for a wrong exit code or a timeout."""
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        work = Path(directory, "work")
        work.mkdir()
        source = Path(directory, "input" + golden.suffix)
        source.write_text(golden.input)
        names = {"%input": str(source), "%dir": str(work), "%data": str(golden.path.parent.resolve())}
        environment = {**os.environ, "HOME": str(work), "XDG_CACHE_HOME": str(work), "LC_ALL": "C.UTF-8"}
        environment.pop("TUNEC_BLESS", None)
        out, err = "", ""
        for i, command in enumerate(golden.commands):
            arguments = [replace_all(word, names) for word in shlex.split(command)]
            expected = golden.exit_code if i + 1 == len(golden.commands) else 0
            try:
                done = subprocess.run([tunec, *arguments], cwd=work, env=environment, text=True, errors="replace",
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                raise Failed(f"tunec {command}: no end within {TIMEOUT_SECONDS} s") from None
            out, err = out + done.stdout, err + done.stderr
            if done.returncode != expected:
                raise Failed(f"tunec {command}: {describe_exit(done.returncode)}, expected exit code {expected}\n"
                             f"{done.stdout}{done.stderr}")
        back = {path: name for name, path in names.items()}
        return replace_all(out, back), replace_all(err, back)


def replace_all(text, replacements):
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def describe_exit(code):
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def end_line(text):
    return text if not text or text.endswith("\n") else text + "\n"


def bless(golden, out, err):
    """Rewrites the expectation. An unchanged file is not written."""
    text = end_line(golden.head) + SEPARATOR + "\n" + end_line(out)
    if err:
        text += STDERR_SEPARATOR + "\n" + end_line(err)
    if text == golden.path.read_text():
        return
    aside = golden.path.with_suffix(".txt.new")
    aside.write_text(text)
    aside.replace(golden.path)
    print(f"blessed {golden.path}")


def compare(golden, out, err):
    """Raises Failed with a unified difference if the output is not as expected."""
    difference = []
    for stream, expected, got in (("stdout", golden.stdout, out), ("stderr", golden.stderr, err)):
        difference += difflib.unified_diff(end_line(expected).splitlines(), end_line(got).splitlines(),
                                           f"expected {stream}", f"{stream}", lineterm="")
    if difference:
        raise Failed("\n".join(difference))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunec", required=True, type=os.path.abspath, help="the program to run")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    status = 0
    for path in args.files:
        try:
            golden = parse(path)
            finish = bless if os.environ.get("TUNEC_BLESS") == "1" else compare
            finish(golden, *run(golden, args.tunec))
        except Malformed as error:
            print(error)
            return 2
        except Failed as error:
            print(f"{path}: failed\n{error}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
