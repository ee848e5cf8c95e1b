# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and changes of what congestion.sh measured."""
import math
import statistics

import tables
from tables import KIB, Verdicts, divide, number, size_name

# Bytes of a frame on the wire beside Ethernet's payload: header, preamble, checksum, gap.
WIRE = 38
WIRE_MIN = 84
# Headers in Ethernet's payload. Messages of up to EAGER_MAX are eager, others are pulled.
EAGER_HEADER, PULL_HEADER, TCP_HEADER = 48, 32, 52
EAGER_MAX = 64 * KIB
BITS = {"gbit": 1e9, "mbit": 1e6}

# Counted as frames, and those of them that are not data and are not sent again.
SENT = "sent "
NOT_DATA = ("hello", "bye", "connect", "connect response", "ack", "pull request", "nack",
            "hold", "flush")
AGAIN = ("packet sent again after a timeout", "packet sent again after a selective ack",
         "pull frame requested again")
# Of the last ones: they are sent once, after all.
NOT_AGAIN = "pull frame requested again before it was sent"

GOODPUT_LIMIT, AGAIN_LIMIT, JAIN_LIMIT, SLOWEST_LIMIT = 0.90, 0.02, 0.95, 4
TOLERANCE = 0.05        # congestion is chaotic


def jain(values):
    """1: all are equal; 1/n: one has everything."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0


def bytes_per_s(rate):
    """Of a link in tc's words; None: no limit."""
    for unit, bits in BITS.items():
        if rate.endswith(unit):
            return float(rate[:-len(unit)]) * bits / 8
    return None


class Run:
    """One line of a crowd."""

    def __init__(self, entry):
        self.entry = entry
        self.transport, self.pattern, self.size = (
            entry[key] for key in ("transport", "pattern", "size"))
        self.mtu = entry["mtu"]
        self.flows = entry["flows"]
        self.seconds = entry["duration_ns"] / 1e9

    def links(self):
        """How many links can be full at once."""
        return self.entry["nodes"] if self.pattern == "all-to-all" else 1

    def goodput(self):
        """Payload, bytes/s."""
        return sum(flow[2] for flow in self.flows) * self.size / self.seconds

    def of_link(self):
        rate = bytes_per_s(self.entry["rate"])
        return divide(self.goodput(), rate and rate * self.links())

    def possible(self):
        """Which part of a link headers leave to payload."""
        if self.transport != "omx":
            return (self.mtu - TCP_HEADER) / (self.mtu + WIRE)
        header = EAGER_HEADER if self.size <= EAGER_MAX else PULL_HEADER
        frames = math.ceil(self.size / (self.mtu - header))
        last = self.size - (frames - 1) * (self.mtu - header) + header + WIRE
        return self.size / ((frames - 1) * (self.mtu + WIRE) + max(last, WIRE_MIN))

    def of_possible(self):
        return divide(self.of_link(), self.possible())

    def frames(self):
        """(frames with data, those that were sent again)"""
        counters = self.entry["counters"]
        if self.transport != "omx":
            return counters["segments with data sent"], counters["segments sent again"]
        sent = sum(value for label, value in counters.items()
                   if label.startswith(SENT) and label[len(SENT):] not in NOT_DATA)
        again = sum(counters[label] for label in AGAIN) - counters.get(NOT_AGAIN, 0)
        return sent, max(again, 0)

    def again(self):
        sent, again = self.frames()
        return divide(again, sent)

    def parts(self):
        """Those among whom the link is shared: senders, or receivers if only one sends."""
        side = 1 if self.pattern == "outcast" else 0
        parts = {}
        for flow in self.flows:
            parts.setdefault(flow[side], []).append(flow)
        return parts

    def fairness(self):
        return jain([sum(flow[2] for flow in flows) for flows in self.parts().values()])

    def fairness_of_flows(self):
        return jain([flow[2] for flow in self.flows])

    def times(self):
        """Of each part the median time of a message, ns; None: not one message came."""
        return [statistics.median([flow[3] for flow in flows if flow[2]])
                if any(flow[2] for flow in flows) else None
                for flows in self.parts().values()]

    def median_time(self):
        times = [time for time in self.times() if time]
        return statistics.median(times) if times else None

    def slowest(self):
        """The time of the slowest part : the median."""
        if None in self.times():
            return math.inf
        return max(self.times()) / self.median_time()

    def longest(self):
        return max(flow[4] for flow in self.flows)

    def starved(self):
        return sum(not flow[2] for flow in self.flows)

    def busy(self):
        return self.entry["busy_ns"] / self.entry["elapsed_ns"]


def runs_of(entries):
    return [Run(entry) for entry in entries]


def place_of(run):
    return tuple(run.entry[key] for key in ("mtu", "nodes", "rate", "queue", "delay", "speed"))


def group(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


# ---- tables ----

def percent(value, digits=1):
    return "-" if value is None else f"{100 * value:.{digits}f}"


# (heading, width, cell)
COLUMNS = (("size", 8, lambda run: size_name(run.size)),
           ("by", 6, lambda run: run.transport),
           ("MB/s", 9, lambda run: number(run.goodput() / 1e6)),
           ("% link", 7, lambda run: percent(run.of_link())),
           ("% max", 6, lambda run: percent(run.of_possible())),
           ("% again", 8, lambda run: percent(run.again(), 2)),
           ("Jain", 6, lambda run: f"{run.fairness():.3f}"),
           ("flows", 6, lambda run: f"{run.fairness_of_flows():.3f}"),
           ("slowest", 8, lambda run: f"{run.slowest():.2f}"),
           ("median ms", 10, lambda run: number(ms(run.median_time()))),
           ("longest", 9, lambda run: number(ms(run.longest()))),
           ("starved", 8, lambda run: str(run.starved())),
           ("lost", 7, lambda run: str(lost(run))),
           ("% CPU", 6, lambda run: percent(run.busy())))


def ms(ns):
    return ns and ns / 1e6


def lost(run):
    """Frames that queues dropped, also before the measurement began."""
    return run.entry["dropped_node"] + run.entry["dropped_port"]


def describe_place(place):
    mtu, nodes, rate, queue, delay, speed = place
    links = "links without limits" if rate == "none" else \
        f"links of {rate}, queues of {queue} frames, {delay} in the switch"
    return f"MTU {mtu}, {nodes} nodes, {links}, {speed} instructions/ns"


def describe_pattern(pattern, nodes):
    return {"incast": f"incast, {nodes - 1} to 1",
            "outcast": f"outcast, 1 to {nodes - 1}"}.get(pattern, f"{pattern}, {nodes} nodes")


def print_table(runs):
    first = runs[0]
    print(f"\n{describe_pattern(first.pattern, first.entry['nodes'])}, MTU {first.mtu}")
    print(" ".join(f"{heading:>{width}}" for heading, width, _ in COLUMNS))
    order = sorted(runs, key=lambda run: run.size)
    for run in order:
        print(" ".join(f"{cell(run):>{width}}" for _, width, cell in COLUMNS))


LEGEND = """
MB/s, % link: payload, of all links that can be full at once; % max: of what headers leave.
% again: frames that were sent again, of those with data. Jain: index over senders (outcast:
receivers), flows: over pairs. slowest: median time of a message of the slowest sender
(receiver) : that of the median one. longest: of a message, ms. starved: pairs without a
message. lost: frames that full queues dropped, with those of the warm-up. % CPU: 100 means
that the processor is the limit."""


# ---- goals ----

class Goals(Verdicts):
    def run(self, run):
        what = (f"{describe_pattern(run.pattern, run.entry['nodes'])}, {size_name(run.size)},"
                f" MTU {run.mtu}")
        self.verdict(f"{what}, goodput at least {GOODPUT_LIMIT:.0%} of what headers leave",
                     run.of_possible() >= GOODPUT_LIMIT,
                     f"{percent(run.of_possible())} % ({percent(run.of_link())} % of the link)")
        self.verdict(f"{what}, sent again at most {AGAIN_LIMIT:.0%}",
                     run.again() is not None and run.again() <= AGAIN_LIMIT,
                     f"{percent(run.again(), 2)} %")
        self.verdict(f"{what}, Jain index at least {JAIN_LIMIT}",
                     run.fairness() >= JAIN_LIMIT, f"{run.fairness():.3f}")
        self.verdict(f"{what}, slowest at most {SLOWEST_LIMIT} x median",
                     run.slowest() <= SLOWEST_LIMIT, f"{run.slowest():.2f}")


def check_goals(runs):
    print("\nGoals (congestion)")
    goals = Goals()
    for run in runs:
        if run.transport == "omx" and run.of_link() is not None:
            goals.run(run)
    goals.say_sum()


def report(entries):
    runs = runs_of(entries)
    for place, here in group(runs, place_of).items():
        print(f"\nCongestion: {describe_place(place)}")
        for same in group(here, lambda run: run.pattern).values():
            print_table(same)
    print(LEGEND)
    check_goals(runs)


# ---- against an earlier run ----

def values(entries):
    return {(*place_of(run), run.pattern, run.size): run.goodput() / 1e6
            for run in runs_of(entries) if run.transport == "omx"}


def describe(at):
    return f"{at[-2]}, {size_name(at[-1])}, {describe_place(at[:-2])}", "MB/s", True


def list_changes(before, after, tolerance):
    return tables.list_changes("congestion", values(before), values(after),
                               max(tolerance, TOLERANCE), describe)
