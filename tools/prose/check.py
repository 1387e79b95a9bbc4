#!/usr/bin/env python3
"""Finds sentences that are hard to read in comments, docstrings, messages and documents.

    check.py [--count] [PATH...]

The default is all files of the checkout that git tracks. Four kinds of finding:
  fragment  a sentence without a main clause, by its first word
  long      more than 30 words between two stops
  pronouns  more than three pronouns; "that" is not counted, because it mostly begins a clause
  word      a word of words.txt, for which the field has a term
String literals are searched for words alone, and those of tests are input that is not checked. A
passage that holds `prose: ok` is accepted as it is; the tree has at most 100 such marks. --count prints a table
by folder. The exit code is 1 with findings.
"""
import argparse
import collections
import re
import subprocess
import sys
from pathlib import Path

from find_passages import MARK, passages_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST_MARKS = 100
MOST_WORDS = 30
MOST_PRONOUNS = 3

FRAGMENT = re.compile(r"(what|whether|of|where|those|whom|whose|which|how|as|likewise|nor|to whom|from which"
                      r"|in which)\b", re.I)
QUESTION = re.compile(r"\w+ (is|are|was|were|does|do|if|follows)\b.*\?", re.I)
# "Where the size is fixed, the kernel ..." has its main clause behind the comma.
MAIN_CLAUSE = re.compile(r"\w+\b[^.]*?, ?(the |a |an |this |these |it |they |each |every |no "
                         r"|all |there |we |both |one |only |\d|[A-Z`])")
PRONOUN = re.compile(r"\b(those|it|its|they|them|their|theirs|ones|such)\b", re.I)
CODE = re.compile(r"`[^`]*`|\{[^}]*\}|\[[^\]]*\]\([^)]*\)|https?://\S+|--?[a-z][\w-]*")
WORD = re.compile(r"[A-Za-z][\w'-]*")


def read_words():
    """Returns pairs of a pattern and the words to write instead."""
    lines = (HERE / "words.txt").read_text(encoding="utf8").splitlines()
    return [(re.compile(pattern, re.I), advice) for pattern, advice in (line.split("\t") for line in lines)]


def sentences(passage):
    """Yields pairs of a line number and a sentence."""
    starts, text = [], ""
    for number, line in enumerate(passage.lines, passage.line):
        starts.append((len(text), number))
        text += line + " "
    at = 0
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Za-z`(])|(?<=[;:]) (?=[A-Z`])", text):
        yield max(number for start, number in starts if start <= at), sentence.strip()
        at += len(sentence) + 1


def longest_part(sentence):
    return max(len(WORD.findall(part)) for part in re.split(r"[;:] ", sentence))


def findings_of_sentence(sentence, words, is_message):
    """Yields the kinds of fault that a sentence has."""
    plain = CODE.sub("x", sentence)
    if len(WORD.findall(plain)) < 3:
        return
    if not is_message:
        if FRAGMENT.match(plain) and not MAIN_CLAUSE.match(plain) and not QUESTION.match(plain):
            yield "fragment"
        if longest_part(plain) > MOST_WORDS:
            yield f"long ({longest_part(plain)} words)"
        if len(PRONOUN.findall(plain)) > MOST_PRONOUNS:
            yield "pronouns"
    for pattern, advice in words:
        if found := pattern.search(plain):
            yield f"word '{found.group(0)}' (better: {advice})"


def findings(name, text, words):
    """Yields triples of a line number, a kind of fault and a sentence."""
    for passage in passages_of(name, text):
        is_test_data = passage.is_message and name.startswith("tests/")
        if not passage.is_accepted() and not is_test_data:
            for line, sentence in sentences(passage):
                for kind in findings_of_sentence(sentence, words, passage.is_message):
                    yield line, kind, sentence


def tracked(paths):
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *(str(path.resolve()) for path in paths)],
                          capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


def print_counts(found):
    counts = collections.Counter((name.split("/")[0] if "/" in name else ".", kind.split(" ")[0])
                                 for name, _, kind, _ in found)
    kinds = ("fragment", "long", "pronouns", "word")
    print("folder", *kinds, sep="\t")
    for folder in sorted({folder for folder, _ in counts}):
        print(folder, *(counts[folder, kind] for kind in kinds), sep="\t")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", default=[ROOT])
    parser.add_argument("--count", action="store_true", help="a table by folder")
    options = parser.parse_args(arguments)
    words, found, marks = read_words(), [], 0
    for name in tracked(options.paths):
        if name.startswith("tools/prose/"):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        marks += text.count(MARK)
        found += [(name, *finding) for finding in findings(name, text, words)]
    if options.count:
        print_counts(found)
    else:
        for name, line, kind, sentence in found:
            print(f"{name}:{line}: {kind}: {sentence[:150]}")
    if marks > MOST_MARKS:
        print(f"prose: {marks} passages are marked as accepted, expected at most {MOST_MARKS}", file=sys.stderr)
    return int(bool(found) or marks > MOST_MARKS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
