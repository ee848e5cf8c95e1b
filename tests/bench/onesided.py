# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and changes of what onesided_peer, the peers of messages and rxe.sh measured."""
import statistics

import tables
import when
from tables import MIB, Verdicts, divide, number, size_name

WORD = 8

# Of the table below: (heading, transport, kind, how many times its time)
ONE_WAY = (("omx put", "omx", "put one way", 1),
           ("omx, polls", "omx", "message one way", 1),
           ("omx", "omx", "pingpong", 1),
           ("tcp", "tcp", "pingpong", 1),
           ("rxe write", "rxe", "put one way", 1))
WHOLE = (("omx put", "omx", "put", 1),
         ("omx get", "omx", "get", 1),
         ("omx add", "omx", "add", 1),
         ("2 x omx", "omx", "pingpong", 2),
         ("2 x tcp", "tcp", "pingpong", 2),
         ("rxe write", "rxe", "put", 1),
         ("rxe read", "rxe", "get", 1),
         ("rxe add", "rxe", "add", 1))
STREAM = (("omx put", "omx", "put stream", 1),
          ("omx get", "omx", "get stream", 1),
          ("omx", "omx", "stream", 1),
          ("tcp", "tcp", "stream", 1),
          ("rxe write", "rxe", "put stream", 1),
          ("rxe read", "rxe", "get stream", 1))

WINDOWS = (("Put, omx", "omx", "MPI_Put", 1),
           ("tcp", "tcp", "MPI_Put", 1),
           ("Get, omx", "omx", "MPI_Get", 1),
           ("tcp", "tcp", "MPI_Get", 1),
           ("F&op, omx", "omx", "MPI_Fetch_and_op", 1),
           ("tcp", "tcp", "MPI_Fetch_and_op", 1))

TABLES = (("One way, us: of puts, which both sides see in their memory, of messages of omx that"
           " are\npolled for, and of messages that are slept for", ONE_WAY),
          ("From the call until the access has been performed, us, beside a message and"
           " its answer", WHOLE),
          ("Many at a time, MB/s", STREAM),
          ("MPI, us: a call and MPI_Win_flush", WINDOWS))

# (what, ours, theirs, how many times theirs)
AT_MOST = (("put : message", ("omx", "put"), ("omx", "pingpong"), 1),
           ("put one way", ("omx", "put one way"), ("omx", "message one way"), 1),
           ("get : message and answer", ("omx", "get"), ("omx", "pingpong"), 2),
           ("fetch and add : message and answer", ("omx", "add"), ("omx", "pingpong"), 2))
LIMIT = 1.1
WINDOWS_AT_LEAST = 2


def figure(entry):
    """us or MB/s."""
    if "bytes_per_s" in entry:
        return entry["bytes_per_s"] / 1e6
    return entry.get("ns", entry.get("one_way_ns")) / 1e3


class Onesided:
    """us or MB/s by transport, kind and size; medians of all rounds."""

    def __init__(self, entries):
        rounds = {}
        for entry in entries:
            at = entry["transport"], entry["kind"], entry["size"]
            rounds.setdefault(at, []).append(figure(entry))
        self.values = {at: statistics.median(values) for at, values in rounds.items()}

    def get(self, transport, kind, size):
        return self.values.get((transport, kind, size))

    def sizes(self, columns):
        kinds = {column[1:3] for column in columns}
        return sorted({at[2] for at in self.values if at[:2] in kinds})


# ---- tables ----

def print_table(figures, title, columns):
    print(f"\n{title}\n    size |" + " ".join(f"{column[0]:>10}" for column in columns))
    for size in figures.sizes(columns):
        values = (figures.get(transport, kind, size) for _, transport, kind, _ in columns)
        cells = (number(value and value * times)
                 for value, (*_, times) in zip(values, columns))
        print(f"{size_name(size):>8} |" + " ".join(f"{cell:>10}" for cell in cells))


# ---- goals ----

class Goals(Verdicts):
    """Each check prints a line, or nothing if its figures were not measured."""

    def __init__(self, figures):
        super().__init__()
        self.figures = figures

    def at_most(self, what, ours, theirs, times):
        ours, theirs = (self.figures.get(*at, WORD) for at in (ours, theirs))
        ratio = divide(ours, theirs and theirs * times)
        if ratio is not None:
            self.verdict(f"{what}, {size_name(WORD)}, at most {LIMIT}", ratio <= LIMIT,
                         f"{number(ours)} : {number(theirs * times)} us = {number(ratio, 2)}")

    def windows(self, kind, size):
        theirs, ours = (self.figures.get(way, kind, size) for way in ("tcp", "omx"))
        ratio = divide(theirs, ours)
        if ratio is not None:
            self.verdict(f"TCP : omx, {kind}, {size_name(size)}, at least {WINDOWS_AT_LEAST}",
                         ratio >= WINDOWS_AT_LEAST,
                         f"{number(theirs)} : {number(ours)} us = {number(ratio, 2)}")

    def rate(self, kind):
        ours, theirs = (self.figures.get("omx", of, 4 * MIB) for of in (kind, "stream"))
        ratio = divide(ours, theirs)
        if ratio is not None:
            self.verdict(f"{kind} : stream of messages, 4 MiB, at least 1", ratio >= 1,
                         f"{number(ours)} : {number(theirs)} MB/s = {number(ratio, 3)}")

    def ahead_of_rxe(self):
        pairs = [(at, value, self.figures.get("omx", *at[1:]))
                 for at, value in self.figures.values.items() if at[0] == "rxe"]
        slower = [f"{kind} {size_name(size)} {number(ours)} : {number(theirs)}"
                  for (_, kind, size), theirs, ours in pairs
                  if ours is not None and (ours < theirs if kind.endswith("stream")
                                           else ours > theirs)]
        if pairs:
            self.verdict("ahead of rxe", not slower,
                         ", ".join(slower) or f"all {len(pairs)} figures")


def check_goals(figures):
    print("\nGoals (one-sided)")
    goals = Goals(figures)
    for goal in AT_MOST:
        goals.at_most(*goal)
    for kind in ("put stream", "get stream"):
        goals.rate(kind)
    goals.ahead_of_rxe()
    for kind in dict.fromkeys(kind for _, _, kind, _ in WINDOWS):
        for size in figures.sizes(WINDOWS):
            goals.windows(kind, size)
    goals.say_sum()


def report(entries):
    figures = Onesided(entries)
    print("\nOne-sided accesses, MTU 9000, offloads off")
    for title, columns in TABLES:
        print_table(figures, title, columns)
    when.report(entries)
    check_goals(figures)


# ---- against an earlier run ----

def describe(at):
    is_rate = at[1].endswith("stream")
    return f"one-sided, {at[1]}, {size_name(at[2])}", "MB/s" if is_rate else "us", is_rate


def list_changes(before, after, tolerance):
    """Only of omx: the others do not change with it."""
    new = {at: value for at, value in Onesided(after).values.items() if at[0] == "omx"}
    return tables.list_changes("one-sided", Onesided(before).values, new, tolerance, describe)
