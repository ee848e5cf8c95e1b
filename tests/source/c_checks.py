# SPDX-License-Identifier: BSD-2-Clause
"""Checks of the sources: names, lengths, first lines.  Each yields messages."""
import collections
import re
import statistics

import c_text

COMPONENTS = ("driver", "libomx")
C_FILES = r"(driver|libomx|contract)/.*\.[ch]"
PRODUCT = r"(driver|libomx|contract|tools|mpi-glue)/.*\.[ch]"
# Debian's formats of the last three have no comments.
NO_SPDX = (r"LICENSES/.*|COPYING|NEWS|.*\.md|(.*/)?\.gitignore|"
           r"debian/(changelog|copyright|source/format)")
COLUMNS = 100
ONE_WORD_SHARE = 0.04


def functions_of(tree, component):
    for path in tree.matching(component + r"/.*\.[ch]"):
        yield from c_text.functions(path, tree.text(path))


def spdx_lines(tree):
    """Every file names its licence."""
    for path in tree.paths:
        if re.fullmatch(NO_SPDX, path):
            continue
        start = tree.text(path).split("\n", 5)[:5]
        if not any("SPDX-License-Identifier" in line for line in start):
            yield f"{path}: add an SPDX-License-Identifier comment as the first line"


def first_comments(tree):
    """Every C file of the product says at its top what it is."""
    for path in tree.matching(C_FILES):
        if c_text.first_comment(tree.text(path)) is None:
            yield (f"{path}: add a comment after the SPDX line: what the concept is, "
                   "who calls it, and in which context")


STRING_ONLY = re.compile(r'\s*"(?:[^"\\]|\\.)*"[,);\s]*')


def long_lines(tree):
    """Messages may be longer: they stay in one line so that they can be found."""
    for path in tree.matching(PRODUCT):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            width = len(line.expandtabs(8))
            if width > COLUMNS and not STRING_ONLY.fullmatch(line):
                yield f"{path}:{number}: {width} columns; break the line, {COLUMNS} are the limit"


def one_word_names(tree):
    """Static functions name their object, so that stack traces can be read."""
    for component in COMPONENTS:
        static = [f for f in functions_of(tree, component) if f.static]
        short = [f for f in static if "_" not in f.name]
        if len(short) <= ONE_WORD_SHARE * len(static):
            continue
        for f in short:
            yield (f"{f.path}:{f.line}: {f.name}: name the object as well, for instance "
                   f"pull_{f.name}; {len(short)} of {len(static)} static functions of "
                   f"{component} have one word, at most {ONE_WORD_SHARE:.0%} may")


def repeated_names(tree):
    """A header may have an empty function for one that a build option leaves out."""
    for component in COMPONENTS:
        places = collections.defaultdict(set)
        for f in functions_of(tree, component):
            places[f.name].add(f.path)
        for name, paths in sorted(places.items()):
            headers = {path for path in paths if path.endswith(".h")}
            if len(headers) > 1 or len(paths - headers) > 1:
                yield f"{name} is defined in {', '.join(sorted(paths))}: rename all but one"


def sources_listed_once(tree):
    """libomx/sources.mk is the only list of the library's sources."""
    owner = "libomx/sources.mk"
    names = {path.split("/")[-1] for path in tree.matching(r"libomx/[^/]*\.c")}
    listed = set(re.findall(r"[\w-]+\.c\b", tree.text(owner) if tree.has(owner) else ""))
    for name in sorted(names - listed):
        yield f"{owner}: add {name}"
    for name in sorted(listed - names):
        yield f"{owner}: remove {name}, there is no such file"
    for path in tree.matching(r"(.*/)?(Makefile(\.am)?|[^/]*\.mk|[^/]*\.sh|Kbuild)"):
        own = path.startswith("libomx/")
        pattern = r"(?<![\w/.-])[\w-]+\.c\b" if own else r"(?<=libomx/)[\w-]+\.c\b"
        again = sorted(set(re.findall(pattern, tree.text(path))) & names)
        if path != owner and again:
            yield f"{path}: lists {', '.join(again)}; include {owner} instead"


def measure_functions(tree):
    """One line for each component, for --verbose."""
    for component in COMPONENTS:
        lengths = sorted(f.length for f in functions_of(tree, component))
        if not lengths:
            continue
        yield (f"{component}: {len(lengths)} functions, median {statistics.median(lengths):g} "
               f"lines, 90th percentile {percentile(lengths, 0.9)}, longest {lengths[-1]}")


def percentile(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


LIMITS = {"driver": (11, 24)}


def function_lengths(tree):
    for component, (median, ninth) in LIMITS.items():
        lengths = sorted(f.length for f in functions_of(tree, component))
        if not lengths:
            continue
        if statistics.median(lengths) > median:
            yield (f"{component}: the median function has {statistics.median(lengths):g} lines, "
                   f"the limit is {median}: split long functions")
        if percentile(lengths, 0.9) > ninth:
            yield (f"{component}: one function in ten has more than {ninth} lines: "
                   "split the longest ones")


CHECKS = (spdx_lines, first_comments, long_lines, one_word_names, repeated_names,
          sources_listed_once, function_lengths)
