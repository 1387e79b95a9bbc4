#!/usr/bin/env python3
"""Counts the structure of the code: lines, files, functions, folders, and includes between folders.

    shape.py [COMMIT...]

Prints markdown tables with a column for each COMMIT, read from git, and a column for the working
tree without ignored files. C and C++ files are counted. tests/ and bench/ are listed separately,
examples/ and docs/ are omitted, and all other folders form the product.

A function is a body in braces after a parameter list. Its length is the number of lines from its
declaration to the closing brace. A lambda belongs to the enclosing function.
"""
import argparse
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

APART = ["tests", "bench"]
LEFT_OUT = ["examples", "docs"]
SUFFIXES = {".h", ".hpp", ".inc", ".cc", ".cpp", ".c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PUBLIC_HEADERS = "api/include/"  # public headers are included by their path below this folder
AT_A_GLANCE = 20  # folders with more files are listed
RANKS = 8
QUANTILES = [(50, "median"), (90, "90 %"), (99, "99 %"), (100, "longest")]
INCLUDE_KINDS = ["other folders", "folders inside", "the same folder"]

# Comments, literals and preprocessor lines, in which braces do not open blocks.
NOISE = re.compile(
    r"""//(?:\\\n|[^\n])*
      | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
      | ^[ \t]*\#(?:\\\n|[^\n])*""", re.VERBOSE | re.DOTALL | re.MULTILINE)
TYPE_OR_NAMESPACE = re.compile(
    r"(?:(?:inline|static|typedef|constexpr|const|export)\s+)*"
    r"(?P<kind>namespace|class|struct|union|enum|extern)\b")
OPERATOR_NAME = re.compile(r"\boperator\s*(?:\(\s*\)|[^\s\w(]+)")


@dataclass
class Function:
    path: str
    line: int
    lines: int


def blank(match):
    """Returns a replacement for noise with the same number of lines. A literal becomes 0, so that
    `'a' {` is not taken for the head of a function."""
    text = match[0]
    kept = "0" if text[0] in "\"'RuUL" else ""
    return kept + "\n" * text.count("\n")


def without_templates(head):
    """Returns the head without leading `template <...>`."""
    while match := re.match(r"\s*template\s*<", head):
        depth, at = 1, match.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]
    return head


def outside_brackets(head):
    """Returns the text outside of parentheses and braces. Each pair is left as `()` or `{}`."""
    depth, kept = 0, []
    for character in head:
        depth -= character in ")}"
        if depth == 0:
            kept.append(character)
        depth += character in "({"
    return "".join(kept)


def kind_of_block(head):
    """Returns the kind of block that a brace after `head` opens: 'scope', 'function' or 'value'."""
    head = without_templates(head)
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", " ", head, flags=re.DOTALL).strip()
    plain = outside_brackets(OPERATOR_NAME.sub("operator_", head))
    if (match := TYPE_OR_NAMESPACE.match(head)) and "(" not in plain:
        return "value" if match["kind"] == "enum" else "scope"
    if "=" in plain or "(" not in plain:
        return "value"
    # In an initializer list, a brace after a name initializes that member.
    if re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", plain) and re.search(r"[\w>]\s*$", plain):
        return "value"
    return "function"


def closing_brace(code, at):
    """Returns the position after the brace that closes the brace at `at`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


def functions_of(path, text):
    """Returns the functions of a file, in order."""
    code = NOISE.sub(blank, text)
    found = []
    start = at = 0  # start of the declaration, and current position
    parentheses = 0
    while match := re.compile(r"[{};()]|\b(?:public|private|protected)\s*:(?!:)").search(code, at):
        at = match.end()
        token = match[0]
        if token in "()":
            parentheses += 1 if token == "(" else -1
        elif parentheses:  # a default argument, or a type defined in place
            at = closing_brace(code, match.start()) if token == "{" else at
        elif token != "{":  # the end of a declaration or of a scope
            start = at
        else:
            head = code[start:match.start()]
            kind = kind_of_block(head)
            if kind == "scope":
                start = at
                continue
            at = closing_brace(code, match.start())
            if kind == "function":
                first = code.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
                last = code.count("\n", 0, at) + 1
                found.append(Function(path, first, last - first + 1))
                start = at
    return found


def quantile(lengths, percent):
    """Returns the length that `percent` percent of the lengths do not exceed."""
    rank = max(0, -(-len(lengths) * percent // 100) - 1)
    return sorted(lengths)[rank] if lengths else 0


@dataclass
class Shape:
    """The lines and functions of a set of files."""
    lines: dict = field(default_factory=dict)  # lines by path
    functions: list = field(default_factory=list)

    def function_lengths(self):
        return [function.lines for function in self.functions]

    def largest_files(self):
        ranked = sorted(self.lines.items(), key=lambda file: (-file[1], file[0]))
        return [f"{path} {lines}" for path, lines in ranked]

    def longest_functions(self):
        ranked = sorted(self.functions, key=lambda one: (-one.lines, one.path, one.line))
        return [f"{one.path}:{one.line} {one.lines}" for one in ranked]


@dataclass
class Tree:
    """A version of the repository: its name, its files, and the text of counted files."""
    name: str
    paths: list
    sources: dict

    def product(self):
        """Returns the folders of the product."""
        return sorted({top_of(path) for path in self.sources} - set(APART))

    def shape(self, folders):
        shape = Shape()
        for path, text in self.sources.items():
            if top_of(path) in folders:
                shape.lines[path] = text.count("\n")
                shape.functions += functions_of(path, text)
        return shape

    def files_by_folder(self):
        """Returns the number of files in each folder of the product, top level and below."""
        product = set(self.product())
        return Counter(folder_of(path) for path in self.paths if top_of(path) in product)

    def includes(self):
        """Returns the number of includes in the product, by top folder and INCLUDE_KINDS."""
        product = set(self.product())
        counts = Counter()
        for path, text in self.sources.items():
            for included in INCLUDE.findall(text) if top_of(path) in product else ():
                for target in (included, PUBLIC_HEADERS + included):
                    if target in self.sources:
                        counts[top_of(path), include_kind(path, target)] += 1
        return counts


def top_of(path):
    return path.partition("/")[0]


def folder_of(path):
    return path.rpartition("/")[0]


def include_kind(path, target):
    if top_of(path) != top_of(target):
        return INCLUDE_KINDS[0]
    return INCLUDE_KINDS[2 if folder_of(path) == folder_of(target) else 1]


def is_counted(path):
    return Path(path).suffix in SUFFIXES and "/" in path and top_of(path) not in LEFT_OUT


def git(root, *words, text=None):
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


def read_commit(root, commit):
    """Returns the Tree of a commit, read from git."""
    paths = git(root, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")[:-1]
    counted = [path for path in paths if is_counted(path)]
    asked = "".join(f"{commit}:{path}\n" for path in counted)
    answer = git(root, "cat-file", "--batch", text=asked.encode())
    sources, at = {}, 0
    for path in counted:  # each answer: "<id> blob <size>", the bytes, a newline
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        sources[path] = answer[end + 1:end + 1 + size].decode(errors="replace")
        at = end + 1 + size + 1
    return Tree(commit, paths, sources)


def read_working_tree(root):
    """Returns the Tree of the files of the working tree that git does not ignore."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode()
    paths = [path for path in listed.split("\0")[:-1] if (root / path).is_file()]
    counted = filter(is_counted, paths)
    sources = {path: (root / path).read_text(errors="replace") for path in counted}
    return Tree("working tree", paths, sources)


def table(title, names, rows):
    """Yields the lines of a markdown table. A row has a name and a cell for each tree."""
    yield f"| {title} | " + " | ".join(names) + " |"
    yield "| --- " + "| ---: " * len(names) + "|"
    for name, *cells in rows:
        yield f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |"
    yield ""


def length_rows(of, lists):
    for percent, name in QUANTILES:
        yield f"lines of a {of}: {name}", *(quantile(lengths, percent) for lengths in lists)


def size_rows(shapes):
    yield "files", *(len(shape.lines) for shape in shapes)
    yield "lines", *(sum(shape.lines.values()) for shape in shapes)
    yield from length_rows("file", [list(shape.lines.values()) for shape in shapes])
    yield "functions", *(len(shape.functions) for shape in shapes)
    yield from length_rows("function", [shape.function_lengths() for shape in shapes])


def ranked_rows(rankings):
    """Yields the highest ranks of each tree, side by side."""
    for rank in range(RANKS):
        cells = [ranking[rank] if rank < len(ranking) else "" for ranking in rankings]
        if any(cells):
            yield rank + 1, *cells


def folder_rows(trees):
    counts = [tree.files_by_folder() for tree in trees]
    for folder in sorted(set().union(*counts)):
        cells = [count[folder] for count in counts]
        if "/" not in folder or max(cells) > AT_A_GLANCE:
            yield folder + "/", *(cell or "" for cell in cells)
    yield (f"folders with more than {AT_A_GLANCE}",
           *(sum(files > AT_A_GLANCE for files in count.values()) for count in counts))


def include_rows(trees):
    counts = [tree.includes() for tree in trees]
    for kind in INCLUDE_KINDS:
        yield (f"all of {kind}", *(sum(number for (_, its), number in count.items() if its == kind)
                                   for count in counts))
    for folder in sorted({folder for count in counts for folder, _ in count}):
        yield folder + "/", *(" / ".join(str(count[folder, kind]) for kind in INCLUDE_KINDS)
                              for count in counts)


def report(trees):
    """Yields the lines of all tables."""
    names = [tree.name for tree in trees]
    product = [tree.shape(tree.product()) for tree in trees]
    yield from table("product", names, size_rows(product))
    for folder in APART:
        yield from table(folder, names, size_rows([tree.shape([folder]) for tree in trees]))
    yield from table("largest files of the product", names,
                     ranked_rows([shape.largest_files() for shape in product]))
    yield from table("longest functions of the product", names,
                     ranked_rows([shape.longest_functions() for shape in product]))
    yield from table("files in a folder itself", names, folder_rows(trees))
    yield from table("includes of " + " / ".join(INCLUDE_KINDS), names, include_rows(trees))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", metavar="COMMIT",
                        help="a version to set beside the working tree")
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the repository (default: the repository of this file)")
    args = parser.parse_args()
    try:
        trees = [read_commit(args.source, commit) for commit in args.commits]
        trees.append(read_working_tree(args.source))
    except subprocess.CalledProcessError as error:  # git has printed the reason
        return error.returncode
    print("\n".join(report(trees)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
