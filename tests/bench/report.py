#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and comparisons of what run.sh measured.

usage: report.py [--json FILE] [--against FILE] bench.jsonl

Everything is kept in FILE, by default build/bench/DATE.json.  Exits 1 if --against finds omx worse than it was, by more than 2 %.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KIB, MIB = 1 << 10, 1 << 20
TOLERANCE = 0.02

# The original, measured the same way at MTU 9000: one-way us by size.
ORIGINAL = {1: 12.1, 128: 12.3, KIB: 12.9, 4 * KIB: 14.2, 32 * KIB: 40.1,
            64 * KIB: 72.2, 256 * KIB: 198, MIB: 656, 4 * MIB: 2623}

# Counters whose sum over both nodes is frames that went over the wire again.
AGAIN = ("packet sent again after a timeout",
         "packet sent again after a selective ack",
         "pull frame asked for again")


# ---- reading ----

def parse_raw(lines):
    """One dictionary of everything, as --json keeps it."""
    run = {"results": [], "frames": []}
    place = counters = None
    for line in lines:
        entry = json.loads(line)
        if "guest" in entry:
            run["guest"] = entry["guest"]
        elif "begin" in entry:
            place, counters = entry["begin"], {}
        elif "counters" in entry:
            add_counters(counters, entry["counters"])
            if entry["node"] == 2:
                run["frames"].append(count_frames(place, counters))
        else:
            run["results"].append({**place, **entry})
    return run


def add_counters(total, boards):
    for board in boards:
        for label, value in board["counters"].items():
            total[label] = total.get(label, 0) + value


def count_frames(place, counters):
    missing = [label for label in AGAIN if label not in counters]
    if missing:
        sys.exit(f"report.py: the driver has no counter {missing[0]!r} any more")
    return {"mtu": place["mtu"], "offload": place["offload"],
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
    print(f"kept in {path}")


class Figures:
    """The results by place, transport, kind and size."""

    def __init__(self, run):
        self.results = {self.key(r): r for r in run["results"]}
        self.frames = {(f["mtu"], f["offload"]): f for f in run["frames"]}
        self.places = list(dict.fromkeys((k[0], k[1]) for k in self.results))

    @staticmethod
    def key(result):
        return (result["mtu"], result["offload"], result["transport"],
                result["kind"], result["size"])

    def sizes(self, place):
        return sorted({k[4] for k in self.results if k[:2] == place})

    def one_way_us(self, place, transport, size):
        result = self.results.get((*place, transport, "pingpong", size))
        return result and result["one_way_ns"] / 1000

    def pingpong_mbs(self, place, transport, size):
        us = self.one_way_us(place, transport, size)
        return us and size / us

    def stream_mbs(self, place, transport, size):
        result = self.results.get((*place, transport, "stream", size))
        return result and result["bytes_per_s"] / 1e6

    def cpu_s_per_gb(self, place, transport, size):
        result = self.results.get((*place, transport, "stream", size))
        return result and result["busy_ns"] / (result["size"] * result["count"])


def divide(a, b):
    return a / b if a is not None and b else None


# ---- tables ----

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


def place_name(place):
    return f"MTU {place[0]}, offloads {place[1]}"


def columns(figures, place):
    """(heading, transports, function, digits, with ratio?) of what was measured."""
    kinds = {k[3] for k in figures.results if k[:2] == place}
    if "pingpong" in kinds:
        yield "one way, us", figures.one_way_us, None, True
        yield "ping-pong, MB/s", figures.pingpong_mbs, None, False
    if "stream" in kinds:
        yield "stream, MB/s", figures.stream_mbs, None, True
        yield "stream, CPU s/GB", figures.cpu_s_per_gb, 2, False


def group_cells(get, place, size, digits, with_ratio):
    ours, theirs = (get(place, t, size) for t in ("omx", "tcp"))
    if get.__name__ == "cpu_s_per_gb" and size < 4 * KIB:
        ours = theirs = None        # the cost of messages, not of bytes
    cells = [number(ours, digits), number(theirs, digits)]
    return cells + [number(divide(ours, theirs), 2)] if with_ratio else cells


def print_table(figures, place):
    groups = list(columns(figures, place))
    print(f"\n{place_name(place)}")
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


# ---- goals ----

class Goals:
    """Each check prints a line, or nothing if its figures were not measured."""

    def __init__(self, figures):
        self.figures = figures
        self.met = self.missed = 0

    def verdict(self, what, good, said):
        self.met += good
        self.missed += not good
        print(f"  {'met    ' if good else 'NOT met'}  {what}: {said}")

    def ratio(self, what, get, place, size, limit, at_least):
        ours, theirs = (get(place, t, size) for t in ("omx", "tcp"))
        value = divide(ours, theirs)
        if value is None:
            return
        good = value >= limit if at_least else value <= limit
        sign = ">=" if at_least else "<="
        self.verdict(f"{what} {size_name(size)}, {place_name(place)}, {sign} {limit} x TCP",
                     good, f"{number(ours)} : {number(theirs)} = {value:.2f}")

    def latency(self, size, place, limit):
        self.ratio("one way us", self.figures.one_way_us, place, size, limit, False)

    def throughput(self, size, place, limit):
        self.ratio("ping-pong MB/s", self.figures.pingpong_mbs, place, size, limit, True)
        self.ratio("stream MB/s", self.figures.stream_mbs, place, size, limit, True)

    def beats_original(self, place):
        worse, compared = [], 0
        for size, theirs in ORIGINAL.items():
            ours = self.figures.one_way_us(place, "omx", size)
            compared += ours is not None
            if ours is not None and ours >= theirs:
                worse.append(f"{size_name(size)} {number(ours)} : {number(theirs)}")
        if compared:
            self.verdict(f"one way us below the original's at every size, {place_name(place)}",
                         not worse, ", ".join(worse) or f"all {compared} sizes")

    def ahead_of_tcp(self, place, what, get, lower_is_better):
        worse, compared = [], 0
        for size in self.figures.sizes(place):
            ours, theirs = (get(place, t, size) for t in ("omx", "tcp"))
            if ours is None or theirs is None:
                continue
            compared += 1
            if (ours >= theirs) == lower_is_better:
                worse.append(f"{size_name(size)} {number(ours)} : {number(theirs)}")
        if compared:
            self.verdict(f"{what} ahead of TCP at every size, {place_name(place)}",
                         not worse, ", ".join(worse) or f"all {compared} sizes")

    def cpu(self, size, place, limit):
        ours, theirs = (self.figures.cpu_s_per_gb(place, t, size) for t in ("omx", "tcp"))
        if ours is not None:
            self.verdict(f"stream CPU s/GB {size_name(size)}, {place_name(place)}, <= {limit}",
                         ours <= limit, f"{number(ours)} (TCP {number(theirs)})")

    def sent_twice(self, place):
        frames = self.figures.frames.get(place)
        if frames and frames["sent"]:
            share = frames["again"] / frames["sent"]
            self.verdict(f"frames sent twice, {place_name(place)}, < 1e-4", share < 1e-4,
                         f"{frames['again']} of {frames['sent']} = {share:.1e}")


def check_goals(figures):
    plain, helped, small = (9000, "off"), (9000, "on"), (1500, "off")
    goals = Goals(figures)
    print("\nGoals (omx : TCP)")
    goals.latency(1, plain, 0.65)
    goals.latency(4 * KIB, plain, 0.65)
    goals.beats_original(plain)
    goals.beats_original(helped)
    for size in (32 * KIB, 64 * KIB):
        goals.latency(size, helped, 0.99)
    for size in (MIB, 4 * MIB):
        goals.throughput(size, plain, 4)
        goals.throughput(size, helped, 1.2)
        goals.cpu(size, plain, 0.5)
        goals.cpu(size, helped, 0.5)
    goals.ahead_of_tcp(small, "one way", figures.one_way_us, True)
    goals.ahead_of_tcp(small, "stream", figures.stream_mbs, False)
    for place in figures.places:
        goals.sent_twice(place)
    print(f"{goals.met} met, {goals.missed} NOT met")


# ---- against an earlier run ----

METRICS = (("one_way_ns", "one way", 1e3, "us", False),
           ("bytes_per_s", "stream", 1e6, "MB/s", True),
           ("busy_ns", "CPU", 1e6, "ms", False))


def changes(before, after):
    """(how much worse, text) of each figure that both have and that moved."""
    for key, new in after.results.items():
        old = before.results.get(key)
        if not old or old["count"] != new["count"]:
            continue
        for field, name, scale, unit, more_is_better in METRICS:
            if not old.get(field) or field not in new:
                continue
            if field == "busy_ns" and new["kind"] == "pingpong":
                continue
            change = new[field] / old[field] - 1
            if abs(change) > TOLERANCE:
                worse = -change if more_is_better else change
                yield key, worse, (f"{key[2]} {name} {size_name(key[4])}, {place_name(key)}: "
                                   f"{old[field] / scale:.2f} -> {new[field] / scale:.2f} {unit}"
                                   f" ({change:+.1%})")


def compare(path, after):
    with open(path, encoding="utf-8") as file:
        before = json.load(file)
    print(f"\nAgainst {path} ({before.get('commit') or 'unknown'}, {before.get('date')}):"
          f" what changed by more than {TOLERANCE:.0%}")
    worse_ones = total = 0
    for key, worse, text in changes(Figures(before), after):
        total += 1
        worse_ones += worse > 0 and key[2] == "omx"
        print(f"  {'worse ' if worse > 0 else 'better'}  {text}")
    print(f"{total} changes, omx is worse in {worse_ones}")
    return worse_ones


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", help="what run.sh wrote")
    parser.add_argument("--json", help="keep everything in this file")
    parser.add_argument("--against", help="a file that --json wrote earlier")
    arguments = parser.parse_args()
    with open(arguments.raw, encoding="utf-8") as file:
        run = parse_raw(file)
    describe_origin(run)
    figures = Figures(run)
    for place in figures.places:
        print_table(figures, place)
    check_goals(figures)
    worse = arguments.against and compare(arguments.against, figures)
    keep(run, arguments.json)
    if worse:
        sys.exit(1)


if __name__ == "__main__":
    main()
