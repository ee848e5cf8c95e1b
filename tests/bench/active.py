# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and changes of what the examples of active access print."""
import itertools
import statistics

import tables
from tables import Verdicts, divide, number

VERSIONS = ("active", "rma", "message")
# The paper's, at these percentages of collisions: how many times the other version.
TABLE_GOALS = {"message": 2, "rma": 3}
GOAL_PERCENTS = (5, 25)
GETS_LIMIT = 5.0        # % of time
SORT_LIMIT = 1.0
WAYS = ("long gets", "short gets", "short gets, logged")


class Active:
    """What run.sh wrote, by name; medians of all rounds.

    ("table", version, percent, us of the link's delay): inserts/s; ("gets", "plain") and ("gets", "logged"): gets/s;
    ("sort", way) and ("exchange", way): ms.
    """

    def __init__(self, entries):
        rounds = {}
        for entry in entries:
            for at, value in self.values_in(entry):
                rounds.setdefault(at, []).append(value)
        self.values = {at: statistics.median(values) for at, values in rounds.items()}

    @staticmethod
    def values_in(entry):
        kind = entry["example"]
        if kind == "hash_table":
            yield (("table", entry["version"], entry["percent"], entry["delay_us"]),
                   entry["per_s"])
        elif kind == "get_log":
            for way in ("plain", "logged"):
                yield ("gets", way), entry[way]
        else:
            yield ("sort", entry["way"]), entry["ms"]
            yield ("exchange", entry["way"]), entry["exchange_ms"]

    def get(self, *at):
        return self.values.get(at)

    def delays(self):
        return sorted({at[3] for at in self.values if at[0] == "table"})

    def percents(self, delay):
        return sorted({at[2] for at in self.values if at[0] == "table" and at[3] == delay})

    def more_time(self, without, logged):
        """How many % more time it takes with logging; None: not measured."""
        ratio = divide(without, logged)
        return None if ratio is None else 100 * (ratio - 1)

    def gets_overhead(self):
        return self.more_time(self.get("gets", "plain"), self.get("gets", "logged"))

    def sort_overhead(self, part):
        return self.more_time(self.get(part, "short gets, logged"),
                              self.get(part, "short gets"))


# ---- tables ----

def row(cells):
    return " ".join(f"{cell:>10}" for cell in cells)


def link(delay):
    return f", over a link of {delay} us" if delay else ""


def print_hash_table(figures, delay):
    print(f"\nHash table{link(delay)}: inserts/s in thousands\ncollisions |" + row(VERSIONS)
          + "   active : rma   active : message")
    for percent in figures.percents(delay):
        rates = [figures.get("table", version, percent, delay) for version in VERSIONS]
        cells = row(number(rate and rate / 1e3) for rate in rates)
        print(f"{percent:>8} % |{cells} {number(divide(rates[0], rates[1]), 2):>14}"
              f" {number(divide(rates[0], rates[2]), 2):>18}")


def print_gets(figures):
    more = figures.gets_overhead()
    if more is not None:
        print(f"\nGets of 8 bytes, one after the other: {number(figures.get('gets', 'plain'))}/s,"
              f" {number(figures.get('gets', 'logged'))}/s with logging ({more:+.1f} % time)")


def print_sort(figures):
    ways = [way for way in WAYS if figures.get("sort", way) is not None]
    if not ways:
        return
    print("\nSort, ms\n" + " " * 19 + "|" + row(("total", "exchange")))
    for way in ways:
        cells = (number(figures.get(part, way)) for part in ("sort", "exchange"))
        print(f"{way:<19}|{row(cells)}")
    if figures.sort_overhead("sort") is not None:
        print(f"logging: {figures.sort_overhead('sort'):+.2f} % time,"
              f" {figures.sort_overhead('exchange'):+.1f} % of that for the exchange")


# ---- goals ----

class Goals(Verdicts):
    """Each check prints a line, or nothing if its figures were not measured."""

    def __init__(self, figures):
        super().__init__()
        self.figures = figures

    def hash_table(self, other, percent, delay, times):
        ours, theirs = (self.figures.get("table", version, percent, delay)
                        for version in ("active", other))
        ratio = divide(ours, theirs)
        if ratio is not None:
            self.verdict(f"hash table, active : {other}, {percent} % collisions{link(delay)},"
                         f" at least {times}", ratio >= times,
                         f"{number(ours / 1e3)} : {number(theirs / 1e3)} thousand/s"
                         f" = {number(ratio, 2)}")

    def at_most(self, what, more, limit):
        if more is not None:
            self.verdict(f"{what}, at most {limit:.0f} % more time", more <= limit,
                         f"{more:+.2f} %")


def check_goals(figures):
    print("\nGoals (active access)")
    goals = Goals(figures)
    for delay, (other, times) in itertools.product(figures.delays(), TABLE_GOALS.items()):
        for percent in GOAL_PERCENTS:
            goals.hash_table(other, percent, delay, times)
    goals.at_most("gets with logging", figures.gets_overhead(), GETS_LIMIT)
    goals.at_most("sort with logging", figures.sort_overhead("sort"), SORT_LIMIT)
    goals.say_sum()


def report(entries):
    figures = Active(entries)
    for delay in figures.delays():
        print_hash_table(figures, delay)
    print_gets(figures)
    print_sort(figures)
    check_goals(figures)


# ---- against an earlier run ----

def describe(at):
    is_rate = at[0] in ("table", "gets")
    return ", ".join(map(str, at)), "/s" if is_rate else "ms", is_rate


def list_changes(before, after, tolerance):
    return tables.list_changes("active access", Active(before).values, Active(after).values,
                               tolerance, describe)
