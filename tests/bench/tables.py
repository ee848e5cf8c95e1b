# SPDX-License-Identifier: BSD-2-Clause
"""What the reports of all groups are written with."""
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20


class Link(NamedTuple):
    """What joins the nodes: veth, or a pair of emulated NICs of that name."""
    mtu: int
    offload: str
    nic: str = ""
    rate: str = ""              # as tc has it; empty if frames arrive when they are sent

    @classmethod
    def of(cls, entry):
        offload = entry.get("offload")
        # Earlier files have only NICs of one kind, and do not name it.
        nic = entry.get("nic", "e1000" if offload == "nic" else "")
        return cls(entry.get("mtu"), offload, nic, entry.get("rate", ""))

    def carrier(self):
        return (f" over emulated {self.nic}" if self.nic else "") + \
               (f" at {self.rate}" if self.rate else "")

    def name(self):
        offloads = "" if self.nic else ", offloads " + \
            {"sg": "off but scatter-gather"}.get(self.offload, self.offload)
        return f"MTU {self.mtu}{offloads}{self.carrier()}"


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


def list_changes(group, old, new, tolerance, describe):
    """Prints which values changed by more; returns how many of them for the worse.

    describe() turns a key into words, a unit, and whether more of it is better.
    """
    common = [at for at in new if old.get(at)]
    total = worse = 0
    for at in common:
        change = new[at] / old[at] - 1
        if abs(change) <= tolerance:
            continue
        what, unit, more_is_better = describe(at)
        is_worse = change < 0 if more_is_better else change > 0
        total += 1
        worse += is_worse
        print(f"  {'worse ' if is_worse else 'better'}  {what}:"
              f" {number(old[at])} -> {number(new[at])} {unit} ({change:+.1%})")
    if common:
        print(f"{group}: {total} changes, {worse} of them for the worse")
    return worse


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
