# SPDX-License-Identifier: BSD-2-Clause
"""What the reports of all groups are written with."""

KIB, MIB = 1 << 10, 1 << 20


def divide(a, b):
    return a / b if a is not None and b else None


def size_name(size):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def number(value, digits=None):
    if value is None:
        return "-"
    if digits is None:
        digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 1000 else 0
    return f"{value:.{digits}f}"


class Verdicts:
    """Says of each goal whether it is met, and counts."""

    def __init__(self):
        self.met = self.missed = 0

    def verdict(self, what, good, said):
        self.met += good
        self.missed += not good
        print(f"  {'met    ' if good else 'NOT met'}  {what}: {said}")

    def say_sum(self):
        print(f"{self.met} met, {self.missed} NOT met")
