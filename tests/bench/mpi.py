# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and changes of what mpi_bench measured."""
import statistics

from tables import KIB, MIB, Link, Verdicts, divide, number, size_name

WAYS = ("omx", "tcp", "ofi")
MODES = ("pin", "overlap", "cache", "unpinned")

# So many times as fast as TCP: where it is not bytes that take the time, and elsewhere.
LATENCY_BOUND = 4 * KIB
GOALS = (1.5, 1.0)
HIDDEN = 0.95
# With long queues: a byte at most so many times as slow as without.
BEHIND = 1.1

# Two runs of the same differ by so much, even in virtual time: how messages
# that are under way together meet is luck.
TOLERANCE_LARGE, TOLERANCE_PATTERN = 0.10, 0.20

# What the authors of Open-MX found between two nodes: less time than with
# pinning each time, pinning cache and overlapped pinning.
FOUND = {"sendrecv": (0.084, 0.055), "exchange": (-0.014, -0.027),
         "allgatherv": (0.075, 0.068), "bcast": (0.044, 0.020), "reduce": (0.076, 0.002),
         "allreduce": (0.022, -0.006), "reduce_scatter": (0.079, -0.008)}


class Mpi:
    """us by link, way, name and size; medians of all rounds."""

    def __init__(self, entries, field="ns"):
        rounds = {}
        for entry in entries:
            if field in entry:
                at = (Link.of(entry), entry["transport"], entry["mpi"], entry["size"])
                rounds.setdefault(at, []).append(entry[field])
        self.values = {at: statistics.median(values) / 1000 for at, values in rounds.items()}
        self.links = list(dict.fromkeys(at[0] for at in self.values))

    def us(self, where, way, name, size):
        return self.values.get((where, way, name, size))

    def rows(self, where):
        """(name, size) of the patterns, in the order of measurement."""
        return list(dict.fromkeys(at[2:] for at in self.values
                                  if at[0] == where and at[2] in FOUND))

    def sizes(self, where, name):
        return sorted({at[3] for at in self.values if at[0] == where and at[2] == name})


def less(us, base):
    """How much less time than base."""
    return 1 - us / base if us is not None and base else None


def percent(share):
    return "-" if share is None else f"{share:+.1%}"


# ---- goals ----

class Goals(Verdicts):
    """Of each row beside it; summed up at the end."""

    def __init__(self):
        super().__init__()
        self.missed_rows = {}
        self.hidden = {}
        self.limits = []

    def hides(self, where, share):
        self.hidden[where] = share

    def at_most(self, what, ratio, limit):
        if ratio is not None:
            self.limits.append((what, ratio, limit))

    def beside(self, where, what, ratio, limit):
        """The cell of a row."""
        if ratio is None:
            return "-"
        rows = self.missed_rows.setdefault((where, limit), [0, []])
        rows[0] += 1
        if ratio >= limit:
            return f"{limit} met"
        rows[1].append(f"{what} {number(ratio, 2)}")
        return f"{limit} NOT met"

    def report(self):
        print("\nGoals (MPI)")
        for (where, limit), (count, missed) in self.missed_rows.items():
            self.verdict(f"omx at least {limit} times as fast as TCP, {where.name()}",
                         not missed, ", ".join(missed) or f"all {count} rows")
        for where, share in self.hidden.items():
            self.verdict(f"hidden of an exchange while one computes, {where.name()},"
                         f" at least {HIDDEN:.0%}", share >= HIDDEN, percent(share))
        for what, ratio, limit in self.limits:
            self.verdict(f"{what}, at most {limit}", ratio <= limit, number(ratio, 2))
        self.say_sum()


# ---- tables ----

def print_pingpong(figures, where, goals):
    sizes = figures.sizes(where, "pingpong")
    if not sizes:
        return
    print(f"\nMPI ping-pong, {where.name()}\n" + " " * 8 + " |" + "one way, us".center(27)
          + "|" + "MB/s".center(27) + "| times as fast as\n    size |"
          + " |".join(" ".join(f"{way:>8}" for way in WAYS) for _ in range(2))
          + " |     tcp      ofi | goal")
    for size in sizes:
        us = [figures.us(where, way, "pingpong", size) for way in WAYS]
        faster = [divide(other, us[0]) for other in us[1:]]
        limit = GOALS[size > LATENCY_BOUND]
        rates = [divide(size, value) if size else None for value in us]
        print(f"{size_name(size):>8} |"
              + " |".join(" ".join(f"{number(v):>8}" for v in values) for values in (us, rates))
              + f" |{number(faster[0], 2):>8} {number(faster[1], 2):>8} | "
              + goals.beside(where, size_name(size), faster[0], limit))


def print_patterns(figures, where, goals):
    rows = figures.rows(where)
    if not rows:
        return
    print(f"\nMPI patterns on two nodes, {where.name()}: us, and how much less than tcp's\n"
          + " " * 23 + " |" + " |".join(f"{mode:>17}" for mode in MODES)
          + " |      tcp |      ofi | goal of unpinned")
    for name, size in rows:
        tcp = figures.us(where, "tcp", name, size)
        print(f"{name:>14} {size_name(size):>8}", end="")
        for mode in MODES:
            us = figures.us(where, mode, name, size)
            print(f" |{number(us):>8} {percent(less(us, tcp)):>8}", end="")
        faster = divide(tcp, figures.us(where, "unpinned", name, size))
        print(f" |{number(tcp):>9} |{number(figures.us(where, 'ofi', name, size)):>9} | "
              + goals.beside(where, f"{name} {size_name(size)}", faster, GOALS[1]))


def print_improvements(figures, where):
    """Of the modes, as the authors of Open-MX said it."""
    rows = [(name, size) for name, size in figures.rows(where)
            if figures.us(where, "pin", name, size)]
    if not rows:
        return
    print(f"\nHow much less than pinning each time takes, {where.name()};"
          " theirs: what the authors of Open-MX found\n" + " " * 23
          + " |  cache  theirs | overlap  theirs | unpinned")
    for name, size in rows:
        pin = figures.us(where, "pin", name, size)
        cache, overlap, unpinned = (percent(less(figures.us(where, mode, name, size), pin))
                                    for mode in ("cache", "overlap", "unpinned"))
        print(f"{name:>14} {size_name(size):>8} |{cache:>7} {percent(FOUND[name][0]):>7}"
              f" |{overlap:>8} {percent(FOUND[name][1]):>7} |{unpinned:>9}")


STEERED, ONE = "overlap_steered", "overlap_one"
OVERLAPS = {
    STEERED: "one of the two computing, the network's work steered to the other's processor",
    ONE: "one of the two computing, the network's work left where it falls",
    "overlap": "both computing",
}


def hidden(measures, where, way, name, size):
    """The share that computing hides of what it can, as the Intel MPI Benchmarks
    define it, and what the exchange takes alone."""
    total, alone, work = (of.us(where, way, name, size) for of in measures)
    if total is None:
        return None, None
    return (alone + work - total) / min(alone, work), alone


def print_overlap(entries, figures, where, goals, judged):
    measures = (figures, Mpi(entries, "exchange_ns"), Mpi(entries, "compute_ns"))
    for name, who in OVERLAPS.items():
        for size in figures.sizes(where, name):
            for way in WAYS:
                share, alone = hidden(measures, where, way, name, size)
                if share is None:
                    continue
                print(f"Hidden of an exchange of {size_name(size)} by computing meanwhile, {who},"
                      f" {where.name()}, {way}: {percent(share)} of {number(alone)} us")
                if (name, way) == (judged, "omx"):
                    goals.hides(where, share)


QUEUES = {
    "behind_none": "one way, a byte",
    "behind_others": "with receives posted from another process",
    "behind_tags": "with receives posted for other tags",
    "flood_forwards": "many messages before their receives, from the first send on",
    "unexpected_forwards": "receiving them in their order",
    "unexpected_backwards": "receiving them backwards",
}


def print_queues(figures, where, goals):
    if not figures.sizes(where, "behind_none"):
        return
    print(f"\nMPI with 10000 receives posted, or 10000 messages unexpected, {where.name()},"
          " us\n" + " " * 62 + " |" + " ".join(f"{way:>10}" for way in WAYS))
    for name, what in QUEUES.items():
        values = [figures.us(where, way, name, size) for way in WAYS
                  for size in figures.sizes(where, name)]
        print(f"{what:>62} |" + " ".join(f"{number(value):>10}" for value in values))
    none, others, tags = (figures.us(where, "omx", name, 1)
                          for name in ("behind_none", "behind_others", "behind_tags"))
    goals.at_most(f"behind receives of others, times as slow, {where.name()}",
                  divide(others, none), BEHIND)
    goals.at_most(f"behind receives for other tags, times as slow, {where.name()}",
                  divide(tags, none), BEHIND)
    for name in ("flood_forwards", "unexpected_forwards", "unexpected_backwards"):
        ours, theirs = (figures.us(where, way, name, 8) for way in ("omx", "tcp"))
        goals.at_most(f"{QUEUES[name]}, omx : tcp, {where.name()}",
                      divide(ours, theirs), 1.0)


def print_rates(figures, where, goals):
    """Of short messages, 64 of them under way."""
    sizes = figures.sizes(where, "rate")
    if not sizes:
        return
    print(f"\nMPI messages in one direction, 64 under way, {where.name()}, thousands a second\n"
          "    size |     omx      tcp | times as many | goal")
    for size in sizes:
        ours, theirs = (figures.us(where, way, "rate", size) for way in ("omx", "tcp"))
        more = divide(theirs, ours)
        print(f"{size_name(size):>8} |{number(divide(1000, ours)):>8} "
              f"{number(divide(1000, theirs)):>8} |{number(more, 2):>14} | "
              + goals.beside(where, f"rate of {size_name(size)}", more, GOALS[1]))


def report(entries, processors):
    figures, goals = Mpi(entries), Goals()
    for where in figures.links:
        print_pingpong(figures, where, goals)
        print_patterns(figures, where, goals)
        print_improvements(figures, where)
        print_queues(figures, where, goals)
        print_rates(figures, where, goals)
        print_overlap(entries, figures, where, goals, STEERED if processors > 1 else ONE)
    names = {at[2] for at in figures.values} - {"rate"}
    if processors == 1 and names and ONE not in names:
        print("\nHidden of an exchange by computing meanwhile: one processor")
    goals.report()


# ---- against an earlier run ----

def tolerance_of(name, size, tolerance):
    if name not in ("pingpong", "rate"):
        return max(tolerance, TOLERANCE_PATTERN)
    return max(tolerance, TOLERANCE_LARGE) if size >= MIB else tolerance


def list_changes(before, after, tolerance):
    """Prints what changed of omx by more; returns how much of it for the worse."""
    old, new = Mpi(before).values, Mpi(after).values
    common = [at for at in new if old.get(at) and at[1] not in ("tcp", "ofi")]
    total = worse = 0
    for at in common:
        change = new[at] / old[at] - 1
        where, way, name, size = at
        if abs(change) <= tolerance_of(name, size, tolerance):
            continue
        total += 1
        worse += change > 0
        print(f"  {'worse ' if change > 0 else 'better'}  MPI, {name}, {way},"
              f" {size_name(size)}, {where.name()}:"
              f" {number(old[at])} -> {number(new[at])} us ({change:+.1%})")
    if common:
        print(f"MPI: {total} changes, {worse} of them for the worse (of patterns by more than"
              f" {tolerance_of('', 0, tolerance):.0%}, of a ping-pong of 1 MiB and more"
              f" {tolerance_of('pingpong', MIB, tolerance):.0%})")
    return worse
