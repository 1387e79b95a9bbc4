"""Finds the prose of a source file: its comments, docstrings, Markdown paragraphs and long string literals."""
import io
import re
import textwrap
import tokenize
from dataclasses import dataclass

MARK = "prose: ok"  # in a comment: a reader has accepted the sentence as it is


@dataclass(frozen=True)
class Passage:
    """Lines of prose that belong together: a paragraph, or one string literal."""
    line: int  # number of the first line, from 1
    lines: list
    is_message: bool = False  # a string literal: only its words are checked

    def is_accepted(self):
        return any(MARK in line for line in self.lines)


CXX_TOKEN = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?:.|\n)*?\*/|'
                       r"(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'")


COLUMNS = re.compile(r"\S {2,}\S")  # two blanks inside: a row of a table
ITEM = re.compile(r"^([-*]|\d{1,2}\.) ")  # begins an item of a list


def text_of(comment):
    """Returns the text of a line of comment. For code and rows of tables the text is empty, so that
    they end a passage."""
    return "" if comment.startswith("    ") or COLUMNS.search(comment) else comment.strip()


def joined_comments(comments):
    """Returns the passages of comments, which are triples: line number, text, and whether the
    comment begins its line. Comments that begin consecutive lines are one passage. An item of a
    list begins another passage."""
    passages = []
    for line, text, begins in comments:
        last = passages[-1] if passages else None
        continues = last and last[2] and last[0] + len(last[1]) == line and not ITEM.match(text)
        if begins and continues and text:
            last[1].append(text)
        elif text:
            passages.append((line, [text], begins))
    return [Passage(line, [ITEM.sub("", lines[0]), *lines[1:]]) for line, lines, _ in passages]


def is_message(text):
    return len(text.split()) >= 3


def cxx_passages(text):
    comments, messages = [], []
    for token in CXX_TOKEN.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        word = token.group(0)
        if word.startswith("//"):
            comments.append((line, text_of(re.sub(r"^///?<? ?", "", word)), not before.strip()))
        elif word.startswith("/*"):
            for number, part in enumerate(word.split("\n")):
                part = re.sub(r"^\s*(/\*+<?|\*(?!/))? ?|\*/$", "", part).strip()
                comments.append((line + number, part, number > 0 or not before.strip()))
        elif word.startswith('"') and not before.lstrip().startswith("#include") and is_message(word):
            messages.append(Passage(line, [word[1:-1]], is_message=True))
    return joined_comments(comments) + messages


def python_passages(text):
    comments, passages = [], []
    begins_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            begins = not token.line[:token.start[1]].strip()
            comments.append((line, text_of(re.sub(r"^#+!?:? ?", "", token.string)), begins))
        elif token.type == tokenize.STRING:
            body = re.sub(r'^\w*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', "", token.string)
            if begins_statement:
                passages += paragraphs(dedented(body.split("\n")), line)
            elif "\n" not in body and is_message(body):
                passages.append(Passage(line, [body], is_message=True))
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            begins_statement = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            begins_statement = False
    return joined_comments(comments) + passages


def dedented(lines):
    """Returns the lines of a docstring without the indentation that all but the first share."""
    first, *rest = lines
    return [first.strip(), *textwrap.dedent("\n".join(rest)).split("\n")] if rest else [first.strip()]


def shell_passages(text):
    lines = text.split("\n")
    return joined_comments([(number, text_of(re.sub(r"^\s*#+!? ?", "", line)), True)
                            for number, line in enumerate(lines, 1) if re.match(r"\s*#", line)])


def paragraphs(lines, first=1):
    """Returns the paragraphs of a text. Each item of a list is a paragraph; lines indented by four
    are code."""
    found, run, start, in_code = [], [], 0, False
    for number, line in enumerate([*lines, ""], first):
        bare = line.strip()
        if bare.startswith("```"):
            in_code = not in_code
        is_text = bare and not in_code and not (
            bare.startswith(("```", "|", "#", "<", "[")) or line.startswith("    ") or COLUMNS.search(bare))
        is_item = re.match(r"\s*([-*]|\d+\.) ", line)
        if run and (not is_text or is_item):
            found.append(Passage(start, run))
            run = []
        if is_text:
            start = start if run else number
            run.append(re.sub(r"^([-*]|\d+\.) ", "", bare))
    return found


def markdown_passages(text):
    return paragraphs(text.split("\n"))


def passages_of(name, text):
    """Returns the passages of a file, by the ending of its name. Files of other kinds have none."""
    if name.endswith((".h", ".hpp", ".cc", ".cpp", ".c")):
        return cxx_passages(text)
    if name.endswith((".py", ".pyi")):
        return python_passages(text)
    if name.endswith(".md"):
        return markdown_passages(text)
    if name.endswith(("CMakeLists.txt", ".cmake", "tools/dev", ".ci/run")):
        return shell_passages(text)
    return []
