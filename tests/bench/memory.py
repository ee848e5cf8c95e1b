# SPDX-License-Identifier: BSD-2-Clause
"""Tables, goals and changes of what memory_peer measured."""
import statistics

from tables import KIB, MIB, Link, Verdicts, divide, number, size_name

COLUMNS = {
    "reused": ("permanent", "unpinned", "pin", "pin uncached", "overlap uncached"),
    "fresh": ("permanent", "unpinned", "pin", "pin uncached", "overlap uncached"),
    "destination": ("resident", "adaptive", "pia", "pi4", "pio", "touch", "pin"),
    "source": ("resident", "adaptive", "pia", "pi4", "pio", "touch", "pin"),
    "isend": ("resident", "adaptive", "pio", "touch"),
    "frequency": ("0", "10", "25", "50", "75", "100"),
    "resume": ("page-in", "100us", "500us", "1ms", "ask"),
}

TITLES = {
    "reused": "Throughput of ping-pong, MB/s and share of permanent, the same buffers each time",
    "fresh": "The same, buffers unmapped and mapped anew for each message"
             " (that, but not touching them, is part of the time)",
    "destination": "All destination pages absent: one way, us, and ratio to resident",
    "source": "All source pages absent (dropped from a shared mapping): one way, us,"
              " and ratio to resident",
    "isend": "Inside omx_isend (and touching) with absent pages, us, and ratio to resident",
    "frequency": "So many of a hundred destination pages absent: one way, us, and ratio to 0",
    "resume": "All source pages absent, when the source answers: one way, us, and ratio"
              " to at page-in",
}


def key(entry):
    return entry["memory"], entry["name"], entry["size"]


def links_of(entries):
    return list(dict.fromkeys(Link.of(entry) for entry in entries))


class Memory:
    """ns by table, column and size over one link; medians of all rounds."""

    def __init__(self, entries, link):
        rounds = {}
        for entry in entries:
            if Link.of(entry) == link:
                rounds.setdefault(key(entry), []).append(entry)
        self.values = {at: statistics.median(e["ns"] for e in same)
                       for at, same in rounds.items()}
        self.releases = {at: statistics.median(e["release_ns"] for e in same)
                         for at, same in rounds.items() if "release_ns" in same[0]}

    def us(self, table, name, size):
        value = self.values.get((table, name, size))
        return value / 1000 if value is not None else None

    def has(self, table, name):
        return any(at[:2] == (table, name) for at in self.values)

    def sizes(self, table):
        return sorted({size for of, _, size in self.values if of == table})


# ---- tables ----

def print_table(figures, table):
    names = [name for name in COLUMNS[table] if figures.has(table, name)]
    if not names:
        return
    is_rate = table in ("reused", "fresh")
    print(f"\n{TITLES[table]}\n" + " " * 8 + " |" +
          " |".join(f"{name:>16}" for name in names))
    for size in figures.sizes(table):
        print(f"{size_name(size):>8}", end="")
        base = figures.us(table, names[0], size)
        for name in names:
            us = figures.us(table, name, size)
            value, ratio = (size / us, base / us) if is_rate and us and base else \
                           (us, divide(us, base))
            print(f" |{number(value):>9} {number(ratio, 3):>6}", end="")
        print()


def line(points):
    """Least squares: value at 0 and slope."""
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) /
             sum((x - mean_x) ** 2 for x, _ in points))
    return mean_y - slope * mean_x, slope


def print_declarations(figures):
    counts = figures.sizes("declare")
    print("\nOf resident pages, us\n   pages |  declare |     pin |   unpin | translate")
    costs = {"pinning": [], "unpinning": [], "translating": []}
    for count in counts:
        plain, pinned = (("declare", name, count) for name in ("unpinned", "permanent"))
        row = (figures.values[pinned] - figures.values[plain],
               figures.releases[pinned] - figures.releases[plain],
               figures.values["declare", "prefetch", count])
        for points, ns in zip(costs.values(), row):
            points.append((count, ns))
        print(f"{count:8} | {number(figures.values[plain] / 1000):>8} |"
              + " |".join(f"{number(ns / 1000):>8}" for ns in row))
    for name, points in costs.items():
        base, slope = line(points)
        print(f"{name}: {base / 1000:.2f} us and {slope:.0f} ns a page")


def print_fault(figures):
    adds, page_in, exchange = fault(figures)
    print("\nOne absent destination page, us"
          f"\n  it adds to a message of 4 KiB {number(adds)}"
          f"\n  omx_prefetch of it alone {number(page_in)}, a message there and back"
          f" {number(exchange)}")


def fault(figures):
    """What it adds, paging in alone, an exchange: us."""
    return (figures.us("destination", "adaptive", 4 * KIB) -
            figures.us("destination", "resident", 4 * KIB),
            figures.us("fault", "page in", 4 * KIB), figures.us("fault", "exchange", 1))


# ---- goals ----

class Goals(Verdicts):
    def __init__(self, figures):
        super().__init__()
        self.figures = figures

    def at_least(self, what, value, limit):
        self.verdict(f"{what}, at least {limit}", value >= limit, number(value, 3))

    def at_most(self, what, value, limit):
        self.verdict(f"{what}, at most {limit}", value <= limit, number(value, 3))

    def ratio(self, table, over, under, size):
        return divide(self.figures.us(table, over, size), self.figures.us(table, under, size))

    def as_permanent(self, size):
        ratio = self.ratio("reused", "unpinned", "permanent", size)
        self.at_least(f"throughput unpinned : permanent, reused, {size_name(size)}",
                      1 / ratio, 0.97)
        self.at_most(f"latency unpinned : permanent, reused, {size_name(size)}", ratio, 1.03)

    def overlap(self, size):
        permanent, pin, overlap = (size / self.figures.us("reused", name, size) for name in
                                   ("permanent", "pin uncached", "overlap uncached"))
        if pin < 0.99 * permanent:
            self.at_least("what overlap recovers of the throughput that pinning loses,"
                          f" {size_name(size)}", (overlap - pin) / (permanent - pin), 0.9)

    def faults(self, table):
        for other in ("pin", "touch"):
            self.at_least(f"absent {table}, 4 MiB, {other} first : faults",
                          self.ratio(table, other, "adaptive", 4 * MIB), 1.46)
        self.at_most(f"absent {table}, 1 MiB, faults : none",
                     self.ratio(table, "adaptive", "resident", MIB), 1.5)


def check_goals(figures, link, shows_overlap):
    print(f"\nGoals (memory){link.carrier()}")
    goals = Goals(figures)
    for size in figures.sizes("reused"):
        goals.as_permanent(size)
    if shows_overlap:
        for size in figures.sizes("reused"):
            goals.overlap(size)
        for table in ("destination", "source"):
            goals.faults(table)
    if figures.has("fault", "page in"):
        adds, page_in, exchange = fault(figures)
        goals.verdict("one fault adds at most its page-in and one exchange",
                      adds <= page_in + exchange,
                      f"{number(adds)} : {number(page_in + exchange)} us")
    goals.say_sum()


def report(entries):
    links = links_of(entries)
    for link in links:
        figures = Memory(entries, link)
        print(f"\nMemory: omx alone, {link.name()}, pages of 4 KiB")
        if figures.has("fault", "page in"):
            print_declarations(figures)
        for table in COLUMNS:
            print_table(figures, table)
        if figures.has("fault", "page in"):
            print_fault(figures)
        check_goals(figures, link, link == links[-1])


# ---- against an earlier run ----

def list_changes(before, after, tolerance):
    """Prints what changed by more; returns how much of it for the worse."""
    compared = total = worse = 0
    for link in links_of(after):
        old, new = Memory(before, link).values, Memory(after, link).values
        common = [at for at in new if old.get(at)]
        compared += len(common)
        for at in common:
            change = new[at] / old[at] - 1
            if abs(change) <= tolerance:
                continue
            total += 1
            worse += change > 0
            say_change(at, link, old[at], new[at])
    if compared:
        print(f"memory: {total} changes, {worse} of them for the worse")
    return worse


def say_change(at, link, old, new):
    table, name, size = at
    what = f"{size} pages" if table == "declare" else size_name(size)
    print(f"  {'worse ' if new > old else 'better'}  memory{link.carrier()},"
          f" {table}, {name}, {what}: {number(old / 1000)} -> {number(new / 1000)} us"
          f" ({new / old - 1:+.1%})")
