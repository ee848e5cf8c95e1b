# SPDX-License-Identifier: BSD-2-Clause
"""A rough parser of C: which functions a file defines, and how long they are.

It relies on the kernel's style: the opening brace of a function is the only
brace outside of others that follows a closing parenthesis or an annotation.
"""
import collections
import re

Function = collections.namedtuple("Function", "name path line length static")

HIDDEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""",
                    re.DOTALL | re.VERBOSE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
ANNOTATIONS = {"__attribute__", "__printf", "__must_hold", "__acquires", "__releases",
               "__aligned", "__section", "__alloc_size", "__malloc", "__nonnull"}
NO_FUNCTION = re.compile(r"\b(struct|union|enum)\s+\w*\s*$|=\s*$|\b(if|else|do|for|while|switch)\b")


def keep_lines(match):
    return "\n" * match.group().count("\n") or " "


def without_comments(text):
    """Comments, strings and preprocessor lines become blank; lines keep their numbers."""
    return DIRECTIVE.sub(keep_lines, HIDDEN.sub(keep_lines, text))


def name_of(head):
    """The name that the text before a brace declares as a function, if any."""
    if NO_FUNCTION.search(head):
        return None
    depth = 0
    for match in re.finditer(r"(\w+)\s*\(|\(|\)", head):
        if match.group() == ")":
            depth -= 1
            continue
        if depth == 0 and match.group(1) and match.group(1) not in ANNOTATIONS:
            return match.group(1)
        depth += 1
    return None


def functions(path, text):
    """The functions that a file defines; the length counts all lines of each."""
    code = without_comments(text)
    found, start, depth, parens, open_name = [], 0, 0, 0, None
    for match in re.finditer(r"[(){};]", code):
        sign, at = match.group(), match.start()
        if sign in "()":
            parens += 1 if sign == "(" else -1
        elif parens > 0:
            continue
        elif sign == "{":
            if depth == 0:
                head = code[start:at]
                open_name = name_of(head)
                begin = start + len(head) - len(head.lstrip())
            depth += 1
        elif sign == "}":
            depth = max(depth - 1, 0)
            if depth == 0:
                if open_name:
                    first = code.count("\n", 0, begin) + 1
                    last = code.count("\n", 0, at) + 1
                    found.append(Function(open_name, path, first, last - first + 1,
                                          "static" in code[begin:at].split("(")[0].split()))
                start, open_name = at + 1, None
        elif depth == 0:
            start = at + 1
    return found


def first_comment(text):
    """The comment that begins the file after its SPDX line, or None."""
    lines = text.split("\n", 1)
    rest = lines[1].lstrip() if len(lines) > 1 else ""
    if not rest.startswith("/*") or "*/" not in rest:
        return None
    body = rest[2:rest.index("*/")]
    return re.sub(r"\s*\n\s*\*?\s*", " ", body).strip()


def first_sentence(text):
    """The first sentence of the file's comment, for lists of files."""
    comment = first_comment(text) or ""
    return re.split(r"(?<=[.:])\s", comment, maxsplit=1)[0].strip()


def mentions(text, name):
    return re.search(r"(?<!\w)" + re.escape(name) + r"(?!\w)", text) is not None
