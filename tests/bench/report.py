#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and comparisons of what run.sh measured.

usage: report.py [--json FILE] [--against FILE | --markdown] bench.jsonl
       report.py --against FILE --accelerator NAME

Everything is kept in FILE, by default build/bench/DATE.json.  Exits 1 if
--against finds omx worse than it was, by more than 2 % in virtual time and
10 % by the clock on the wall; 2 if there is nothing to compare with.  With
--markdown prints the table of docs/results/network.md and nothing else.  The second form only says whether a run under NAME could be compared with FILE.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from typing import NamedTuple

import active
import congestion
import fault_steps
import iommu
import memory
import mpi
import onesided
from tables import KIB, MIB, Link, Verdicts, divide, number, size_name

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the rounds of one measurement differ in.
MEASURED = ("elapsed_ns", "busy_ns", "one_way_ns", "min_ns", "p99_ns", "max_ns", "bytes_per_s",
            "messages_per_s")

# By the clock on the wall two runs of the same differ by so much.
TOLERANCE = {"virtual": 0.02, "wall": 0.10}

# The original, measured the same way at MTU 9000: one-way us by size.
ORIGINAL = {1: 12.1, 128: 12.3, KIB: 12.9, 4 * KIB: 14.2, 32 * KIB: 40.1,
            64 * KIB: 72.2, 256 * KIB: 198, MIB: 656, 4 * MIB: 2623}

# How a run was measured, by the lab's name for what ran its instructions.
CLOCKS = {"virtual": "in virtual time",
          "uml": "by the clock on the wall in user-mode Linux",
          "kvm": "by the clock on the wall under KVM",
          "tcg": "by the clock on the wall in an emulator"}

# Counters whose sum over both nodes is frames that went over the wire again.
AGAIN = ("packet sent again after a timeout",
         "packet sent again after a selective ack",
         "pull frame requested again")
# What drivers to compare with may call them.
RENAMED = {"pull frame asked for again": "pull frame requested again"}


# ---- reading ----

def parse_raw(lines):
    """One dictionary of everything, as --json keeps it."""
    run = {"results": [], "frames": [], "memory": [], "onesided": [],
           "active": [], "mpi": [], "iommu": [], "congestion": []}
    place = counters = None
    for line in lines:
        entry = json.loads(line)
        if "guest" in entry:
            run["guest"] = entry["guest"]
        elif "begin" in entry:
            place, counters = entry["begin"], {}
        elif "counters" in entry and "node" in entry:
            add_counters(counters, entry["counters"])
            if entry["node"] == 2:
                run["frames"].append(count_frames(place, counters))
        else:
            kind = next((kind for kind in ("memory", "mpi", "iommu") if kind in entry),
                        place.get("group", "results"))
            run[kind].append({**place, **entry})
    run["iommu"] = fault_steps.reduce(run["iommu"])
    return run


def add_counters(total, boards):
    for board in boards:
        for label, value in board["counters"].items():
            label = RENAMED.get(label, label)
            total[label] = total.get(label, 0) + value


def count_frames(place, counters):
    missing = [label for label in AGAIN if label not in counters]
    if missing:
        sys.exit(f"report.py: the driver has no counter {missing[0]!r} any more")
    return {**{at: place[at] for at in ("mtu", "offload", "nic", "policy", "rate") if at in place},
            "sent": sum(v for k, v in counters.items() if k.startswith("sent ")),
            "again": sum(counters[label] for label in AGAIN),
            "counters": {k: v for k, v in counters.items() if v}}


def describe_origin(run):
    run["date"] = datetime.datetime.now().isoformat(timespec="seconds")
    git = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"],
                         capture_output=True, text=True, check=False)
    run["commit"] = git.stdout.strip()


def keep(run, path):
    """In a file that appears complete or not at all."""
    if not path:
        path = os.path.join(TOP, "build", "bench", run["date"].replace(":", "") + ".json")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(run, file, indent=1)
    os.replace(path + ".new", path)
    return path


def clock(run):
    return "virtual" if run["guest"]["virtual_time"] == "yes" else "wall"


def accelerator(run):
    """Its name in CLOCKS; earlier files do not have it, and are all of one clock."""
    return run["guest"].get("accelerator") or "virtual"


def guest_name(run):
    processors = run["guest"]["processors"]
    return (f"Linux {run['guest']['kernel']}, {processors}"
            f" processor{'s' if processors > 1 else ''}")


class Place(NamedTuple):
    link: Link
    policy: str = "batch"

    def name(self):
        return self.link.name() + (", stock scheduling" if self.policy == "stock" else "")


class Figures:
    """The results by place, transport, kind and size; medians of all rounds."""

    def __init__(self, run):
        self.clock = clock(run)
        self.results = self.combine(run["results"], self.key, MEASURED, statistics.median)
        self.frames = self.combine(run["frames"], self.place, ("sent", "again"), sum)
        self.places = list(dict.fromkeys(k[0] for k in self.results))

    @staticmethod
    def combine(entries, key, fields, function):
        """One entry for each key, its fields those of all rounds in one."""
        rounds = {}
        for entry in entries:
            rounds.setdefault(key(entry), []).append(entry)
        return {at: {**same[0], **{f: function([entry[f] for entry in same])
                                   for f in fields if f in same[0]}}
                for at, same in rounds.items()}

    @staticmethod
    def place(entry):
        return Place(Link.of(entry), entry["policy"])

    @classmethod
    def key(cls, result):
        return cls.place(result), result["transport"], result["kind"], result["size"]

    def kinds(self, place):
        return {k[2] for k in self.results if k[0] == place}

    def sizes(self, place):
        return sorted({k[3] for k in self.results if k[0] == place})

    def one_way_us(self, place, transport, size):
        result = self.results.get((place, transport, "pingpong", size))
        return result and result["one_way_ns"] / 1000

    def pingpong_mbs(self, place, transport, size):
        us = self.one_way_us(place, transport, size)
        return us and size / us

    def stream_mbs(self, place, transport, size):
        result = self.results.get((place, transport, "stream", size))
        return result and result["bytes_per_s"] / 1e6

    def cpu_s_per_gb(self, place, transport, size):
        result = self.results.get((place, transport, "stream", size))
        return result and result["busy_ns"] / (result["size"] * result["count"])

    def thousands_per_s(self, place, transport, size):
        result = self.results.get((place, transport, "rate", size))
        return result and result["messages_per_s"] / 1e3


# ---- tables ----

def columns(figures, place):
    """(heading, transports, function, digits, with ratio?) of what was measured."""
    kinds = figures.kinds(place)
    if "pingpong" in kinds:
        yield "one way, us", figures.one_way_us, None, True
        yield "ping-pong, MB/s", figures.pingpong_mbs, None, False
    if "stream" in kinds:
        yield "stream, MB/s", figures.stream_mbs, None, True
        yield "stream, CPU s/GB", figures.cpu_s_per_gb, 2, False
    if "rate" in kinds:
        yield "rate, 1000 messages/s", figures.thousands_per_s, None, True


def group_cells(get, place, size, digits, with_ratio):
    ours, theirs = (get(place, t, size) for t in ("omx", "tcp"))
    if get.__name__ == "cpu_s_per_gb" and size < 4 * KIB:
        ours = theirs = None        # the cost of messages, not of bytes
    cells = [number(ours, digits), number(theirs, digits)]
    return cells + [number(divide(ours, theirs), 2)] if with_ratio else cells


def print_table(figures, place):
    groups = list(columns(figures, place))
    print(f"\n{place.name()}")
    print(" " * 8, end="")
    for heading, _, _, with_ratio in groups:
        print(" |" + heading.center(25 if with_ratio else 17), end="")
    print("\n    size", end="")
    for *_, with_ratio in groups:
        names = ["omx", "tcp"] + (["ratio"] if with_ratio else [])
        print(" |" + " ".join(f"{n:>8}" for n in names)[:26], end="")
    print()
    for size in figures.sizes(place):
        print(f"{size_name(size):>8}", end="")
        for _, get, digits, with_ratio in groups:
            cells = group_cells(get, place, size, digits, with_ratio)
            print(" |" + " ".join(f"{c:>8}" for c in cells), end="")
        print()
    frames = figures.frames.get(place)
    if frames:
        print(f"frames of omx: {frames['sent']}, sent twice: {frames['again']}"
              f" ({frames['again'] / max(frames['sent'], 1):.1e})")


# ---- the README's table ----

def shown_places(figures):
    """(heading, place)"""
    for place in figures.places:
        if place.link.nic:
            yield f"{place.link.nic}, MTU {place.link.mtu}", place
    yield "veth, MTU 9000", Place(Link(9000, "on"))


def markdown_rows(figures):
    """(what, unit, function, size, digits)"""
    for size in (1, 4 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, MIB, 4 * MIB):
        yield size_name(size), "us", figures.one_way_us, size, None
    for size in (KIB, 4 * KIB, 16 * KIB, 64 * KIB, 4 * MIB):
        yield f"stream of {size_name(size)}", "MB/s", figures.stream_mbs, size, None
    yield "CPU of that", "s/GB", figures.cpu_s_per_gb, 4 * MIB, 2
    for size in (8, KIB):
        yield f"rate of {size_name(size)}", "k/s", figures.thousands_per_s, size, None


def markdown_cells(places, get, unit, size, digits):
    for _, place in places:
        ours, theirs = (get(place, transport, size) for transport in ("omx", "tcp"))
        yield from (f"{number(ours, digits)} {unit}", f"{number(theirs, digits)} {unit}",
                    number(divide(ours, theirs), 2))


def print_markdown(figures):
    places = list(shown_places(figures))
    print("| | " + " | ".join(f"{name}: omx | TCP | omx : TCP" for name, _ in places) + " |")
    print("|---" * (1 + 3 * len(places)) + "|")
    for what, unit, get, size, digits in markdown_rows(figures):
        print(f"| {what} | " + " | ".join(markdown_cells(places, get, unit, size, digits)) + " |")


# ---- goals ----

class Goals(Verdicts):
    """Each check prints a line, or nothing if its figures were not measured.

    The verdict is about batch scheduling; the stock scheduler's figures, which
    are subject to luck, are said beside.
    """

    def __init__(self, figures):
        super().__init__()
        self.figures = figures

    def pair(self, get, place, size):
        return [get(place, transport, size) for transport in ("omx", "tcp")]

    def said(self, get, place, size):
        ours, theirs = self.pair(get, place, size)
        return f"{number(ours)} : {number(theirs)} = {number(divide(ours, theirs), 2)}"

    def ratio(self, what, get, place, size, limit, at_least):
        value = divide(*self.pair(get, place, size))
        if value is None:
            return
        said = self.said(get, place, size)
        if self.pair(get, stock(place), size)[0] is not None:
            said += f" (stock {self.said(get, stock(place), size)})"
        self.verdict(f"{what} {size_name(size)}, {place.name()},"
                     f" {'at least' if at_least else 'at most'} {limit} x TCP",
                     value >= limit if at_least else value <= limit, said)

    def latency(self, size, place, limit):
        self.ratio("one way us", self.figures.one_way_us, place, size, limit, False)

    def throughput(self, size, place, limit):
        self.ratio("ping-pong MB/s", self.figures.pingpong_mbs, place, size, limit, True)
        self.ratio("stream MB/s", self.figures.stream_mbs, place, size, limit, True)

    def everywhere(self, what, place, compared):
        """compared: (size, is it good, ours, theirs)"""
        worse = [f"{size_name(size)} {number(ours)} : {number(theirs)}"
                 for size, good, ours, theirs in compared if not good]
        if compared:
            self.verdict(f"{what} at every size, {place.name()}", not worse,
                         ", ".join(worse) or f"all {len(compared)} sizes")

    def beats_original(self, place):
        ours = {size: self.figures.one_way_us(place, "omx", size) for size in ORIGINAL}
        self.everywhere("one way us less than the original's", place,
                        [(size, us < ORIGINAL[size], us, ORIGINAL[size])
                         for size, us in ours.items() if us is not None])

    def ahead_of_tcp(self, place, what, get, less_is_better):
        pairs = {size: self.pair(get, place, size) for size in self.figures.sizes(place)}
        self.everywhere(f"{what} ahead of TCP", place,
                        [(size, ours < theirs if less_is_better else ours > theirs,
                          ours, theirs)
                         for size, (ours, theirs) in pairs.items()
                         if ours is not None and theirs is not None])

    def cpu(self, size, place, limit):
        get = self.figures.cpu_s_per_gb
        ours = get(place, "omx", size)
        if ours is not None:
            self.verdict(f"stream CPU s/GB {size_name(size)}, {place.name()},"
                         f" at most {limit}", ours <= limit, self.said(get, place, size))

    def sent_twice(self, place):
        frames = self.figures.frames.get(place)
        if frames and frames["sent"]:
            share = frames["again"] / frames["sent"]
            self.verdict(f"frames sent twice, {place.name()}, fewer than 1e-4",
                         share < 1e-4,
                         f"{frames['again']} of {frames['sent']} = {share:.1e}")


def stock(place):
    return place._replace(policy="stock")


def wanted_ahead(figures):
    """Where TCP has no more help, or less, than a plain NIC gives it."""
    return [place for place in figures.places if place.policy == "batch" and not place.link.rate
            and (place.link.nic or place.link == Link(1500, "off"))]


def check_goals(figures):
    plain, gathered, helped = (Place(Link(9000, offload)) for offload in ("off", "sg", "on"))
    goals = Goals(figures)
    print("\nGoals (omx : TCP)")
    goals.latency(1, plain, 0.65)
    goals.latency(4 * KIB, plain, 0.65)
    for place in (plain, helped):
        goals.beats_original(place)
    for size in (32 * KIB, 64 * KIB):
        goals.latency(size, helped, 0.99)
    for place, limit in ((plain, 4), (gathered, 5), (helped, 1.2)):
        for size in (MIB, 4 * MIB):
            goals.throughput(size, place, limit)
    for place, limit in ((plain, 0.5), (gathered, 0.4), (helped, 0.5)):
        for size in (MIB, 4 * MIB):
            goals.cpu(size, place, limit)
    for place in wanted_ahead(figures):
        goals.ahead_of_tcp(place, "one way us", figures.one_way_us, True)
        goals.ahead_of_tcp(place, "stream MB/s", figures.stream_mbs, False)
        goals.ahead_of_tcp(place, "messages/s", figures.thousands_per_s, False)
    for place in figures.places:
        goals.sent_twice(place)
    goals.say_sum()


# ---- against an earlier run ----

METRICS = (("one_way_ns", "one way", 1e3, "us", False),
           ("bytes_per_s", "stream", 1e6, "MB/s", True),
           ("messages_per_s", "rate", 1e3, "thousand/s", True),
           ("busy_ns", "CPU of the stream", 1e6, "ms", False))


def comparable(before, after, transport):
    """Pairs of results.  The stock scheduler's move by themselves: left out."""
    for key, new in after.results.items():
        old = before.results.get(key)
        if old and old["count"] == new["count"] and (key[0].policy, key[1]) == ("batch", transport):
            yield key, old, new


def moved(old, new):
    """(field, name, scale, unit, change, how much worse) of what both have."""
    for field, name, scale, unit, more_is_better in METRICS:
        if not old.get(field) or field not in new:
            continue
        # Of a machine that never idles the CPU time says the same again.
        if field == "busy_ns" and (new["kind"] != "stream" or
                                   new["busy_ns"] == new["elapsed_ns"]):
            continue
        change = new[field] / old[field] - 1
        yield field, name, scale, unit, change, -change if more_is_better else change


def list_changes(before, after):
    worse_ones = total = 0
    for key, old, new in comparable(before, after, "omx"):
        for field, name, scale, unit, change, worse in moved(old, new):
            if abs(change) <= TOLERANCE[after.clock]:
                continue
            total += 1
            worse_ones += worse > 0
            print(f"  {'worse ' if worse > 0 else 'better'}  {name} {size_name(key[3])},"
                  f" {key[0].name()}: {number(old[field] / scale)} ->"
                  f" {number(new[field] / scale)} {unit} ({change:+.1%})")
    if after.places:
        print(f"{total} changes, {worse_ones} of them for the worse")
    return worse_ones


def say_noise(before, after):
    """TCP does not change with omx: what it moves by was not our doing."""
    changes = {"pingpong": [], "stream": [], "rate": []}
    for key, old, new in comparable(before, after, "tcp"):
        changes[key[2]] += [abs(change) for *_, change, _ in moved(old, new)]
    for kind, values in changes.items():
        if values:
            values.sort()
            print(f"TCP's {kind} figures moved by {values[len(values) // 2]:.1%} (median),"
                  f" {values[-1]:.1%} (most)")


def refuse(said):
    print(f"report.py: {said}", file=sys.stderr)
    sys.exit(2)


def read_earlier(path):
    """The run in a file and its figures."""
    try:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        return run, Figures(run)
    except OSError as error:
        refuse(f"cannot read {path}: {error.strerror}")
    except (ValueError, LookupError, TypeError, AttributeError):
        refuse(f"{path} is not what --json keeps")


def check_comparable(path, earlier, name):
    """Not a matter of how much: the figures of different clocks mean different things."""
    before = accelerator(earlier)
    if before != name:
        refuse(f"{path} was measured {CLOCKS.get(before, before)},"
               f" this is measured {CLOCKS.get(name, name)}: they cannot be compared")


def links_of(run):
    return {Link.of(entry) for kind in ("results", "memory", "mpi") for entry in run.get(kind, [])}


def compare(path, run, after):
    """As the status of the program: 0, 1 if something is worse, 2 if nothing is compared."""
    earlier, before = read_earlier(path)
    check_comparable(path, earlier, accelerator(run))
    print(f"\nAgainst {path} ({earlier.get('commit')}, {earlier.get('date')},"
          f" {guest_name(earlier)}): what changed by more than {TOLERANCE[after.clock]:.0%}")
    worse_ones = list_changes(before, after)
    worse_ones += memory.list_changes(earlier.get("memory", []), run["memory"],
                                      TOLERANCE[after.clock])
    worse_ones += onesided.list_changes(earlier.get("onesided", []), run["onesided"],
                                        TOLERANCE[after.clock])
    worse_ones += active.list_changes(earlier.get("active", []), run["active"],
                                      TOLERANCE[after.clock])
    worse_ones += mpi.list_changes(earlier.get("mpi", []), run["mpi"], TOLERANCE[after.clock])
    worse_ones += iommu.list_changes(earlier.get("iommu", []), run["iommu"],
                                     TOLERANCE[after.clock])
    worse_ones += congestion.list_changes(earlier.get("congestion", []), run["congestion"],
                                          TOLERANCE[after.clock])
    say_noise(before, after)
    if links_of(run) and links_of(earlier) and not links_of(run) & links_of(earlier):
        print("  nothing: it is of other links")
        return 2
    return 1 if worse_ones else 0


def report(run, arguments):
    describe_origin(run)
    figures = Figures(run)
    if arguments.markdown:
        print_markdown(figures)
        print("kept in", keep(run, arguments.json), file=sys.stderr)
        return 0
    print(f"{guest_name(run)}, measured {CLOCKS[accelerator(run)]}")
    for place in figures.places:
        print_table(figures, place)
    if figures.clock == "virtual" and figures.places:
        check_goals(figures)
    if run["memory"]:
        memory.report(run["memory"])
    if run["onesided"]:
        onesided.report(run["onesided"])
    if run["active"]:
        active.report(run["active"])
    if run["mpi"]:
        mpi.report(run["mpi"], run["guest"]["processors"])
    if run["iommu"]:
        iommu.report(run["iommu"])
    if run["congestion"]:
        congestion.report(run["congestion"])
    status = compare(arguments.against, run, figures) if arguments.against else 0
    print("kept in", keep(run, arguments.json))
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", nargs="?", help="what run.sh wrote")
    parser.add_argument("--json", help="keep everything in this file")
    parser.add_argument("--against", help="a file that --json wrote earlier")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/results/network.md")
    parser.add_argument("--accelerator", choices=CLOCKS, help="what a run would be measured under")
    arguments = parser.parse_args()
    if arguments.raw:
        with open(arguments.raw, encoding="utf-8") as file:
            sys.exit(report(parse_raw(file), arguments))
    if not arguments.against or not arguments.accelerator:
        parser.error("a run, or --against and --accelerator")
    earlier, _ = read_earlier(arguments.against)
    check_comparable(arguments.against, earlier, arguments.accelerator)


if __name__ == "__main__":
    main()
