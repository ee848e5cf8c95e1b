#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks OpenMetrics text (version 1.0) that node_exporter is to read as well.

openmetrics.py [FILE] says what is wrong with the first line that is; the exit status
is 1 then.  Beyond the specification it refuses what the older format of Prometheus
lacks: types other than counter and gauge, timestamps, exemplars, quotation marks and
escapes in HELP lines.
"""
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
SUFFIX = {"counter": "_total", "gauge": ""}
# Names that a family takes beside its own.
RESERVED = {"counter": ("_total", "_created"), "gauge": ()}


class Wrong(Exception):
    """What is wrong."""


def expect(condition, message):
    if not condition:
        raise Wrong(message)


def parse_labels(text):
    """The labels between braces, as a dictionary."""
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        expect(match, f"no label: {text[at:]}")
        expect(match[1] not in labels, f"label {match[1]} twice")
        expect(not match[1].startswith("__"), f"label {match[1]} is reserved")
        labels[match[1]] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        at = match.end()
        if at < len(text):
            expect(text[at] == "," and at + 1 < len(text), f"no comma: {text[at:]}")
            at += 1
    return labels


class Exposition:
    """Collects the lines; `samples` has {name: [(labels, value text)]}."""

    def __init__(self):
        self.families, self.samples, self.taken = {}, {}, set()
        self.family = None

    def descriptor(self, line):
        words = line.split(" ", 3)
        expect(len(words) == 4 and words[0] == "#", "not '# WORD NAME TEXT'")
        _, word, name, text = words
        expect(word in ("TYPE", "HELP"), f"# {word} is neither TYPE nor HELP")
        expect(NAME.fullmatch(name), f"no name of a metric: {name}")
        if name != self.family:
            expect(name not in self.families, f"{name} is interrupted by another family")
            self.families[name], self.family = {}, name
        about = self.families[name]
        expect(word not in about, f"{word} of {name} twice")
        expect(not self.samples_of(name), f"{word} of {name} after its samples")
        about[word] = text
        if word == "TYPE":
            self.take_names(name, text)
        else:
            expect('"' not in text and "\\" not in text, "the older format escapes otherwise")

    def take_names(self, name, kind):
        expect(kind in SUFFIX, f"the older format has no type {kind}")
        for taken in [name] + [name + end for end in RESERVED[kind]]:
            expect(taken not in self.taken, f"{taken} is two metrics")
            self.taken.add(taken)

    def samples_of(self, family):
        kind = self.families[family].get("TYPE")
        return self.samples.get(family + SUFFIX[kind], []) if kind else []

    def sample(self, line):
        match = re.fullmatch(r"([^ {]+)(?:\{(.*)\})? ([^ ]+)", line)
        expect(match, "not 'NAME{LABELS} VALUE', which is all that the older format shares")
        name, value = match[1], match[3]
        labels = parse_labels(match[2] or "")
        expect(self.family, "a sample before its TYPE")
        about = self.families[self.family]
        expect("TYPE" in about and "HELP" in about, f"{self.family} has no TYPE or no HELP")
        expect(name == self.family + SUFFIX[about["TYPE"]],
               f"{name} is no {about['TYPE']} of family {self.family}")
        expect(NUMBER.fullmatch(value), f"no number: {value}")
        expect(about["TYPE"] != "counter" or not value.startswith("-"), "a negative counter")
        others = self.samples.setdefault(name, [])
        expect(labels not in [other for other, _ in others], f"{name}: the same labels twice")
        expect(all(set(labels) == set(other) for other, _ in others),
               f"{name}: not always the same labels")
        others.append((labels, value))

    def add(self, line):
        if line.startswith("#"):
            self.descriptor(line)
        else:
            self.sample(line)


def check(data):
    """Returns the Exposition, or raises Wrong."""
    text = data.decode("utf-8")
    expect(text.endswith("# EOF\n"), "the end is not '# EOF'")
    exposition = Exposition()
    for number, line in enumerate(text.split("\n")[:-2], 1):
        try:
            expect(line, "an empty line")
            expect("\r" not in line and "\t" not in line, "a blank that is no space")
            expect(line != "# EOF", "# EOF before the end")
            exposition.add(line)
        except Wrong as wrong:
            raise Wrong(f"line {number}: {wrong}: {line}") from None
    return exposition


def main():
    file = open(sys.argv[1], "rb") if len(sys.argv) > 1 else sys.stdin.buffer
    with file:
        data = file.read()
    try:
        exposition = check(data)
    except (Wrong, UnicodeDecodeError) as wrong:
        print(wrong)
        return 1
    print(f"{len(exposition.families)} families, "
          f"{sum(map(len, exposition.samples.values()))} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
