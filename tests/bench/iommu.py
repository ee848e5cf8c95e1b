# SPDX-License-Identifier: BSD-2-Clause
"""Tables and changes of what iommu.sh measured."""
import statistics

import tables
from tables import KIB, MIB, divide, number, size_name

WAYS = {"software": "the driver's own table, the processor copies",
        "domain": "the driver's own table, the engine copies",
        "sva": "the engine copies and requests the page from the kernel",
        "reported": "the engine copies and reports what the IOMMU has blocked"}
POLICIES = ("resident", "adaptive", "pia", "pi4", "pio", "touch")
COPIED = "piece of a frame copied by the device"
REFUSED = "piece of a frame not taken by the device"
# Counters, and what the columns are called
COUNTERS = {COPIED: "copied", REFUSED: "refused",
            "piece of a frame copied again, not by the device": "taken over",
            "page requested by the device": "requests",
            "fault reported by the device": "faults",
            "endpoint barred from the device because its page did not come": "barred"}


class Figures:
    """ns, or counts, by table, way, name and size; medians of all rounds."""

    def __init__(self, entries):
        rounds = {}
        for entry in entries:
            for at, value in self.values_in(entry):
                rounds.setdefault(at, []).append(value)
        self.values = {at: statistics.median(values) for at, values in rounds.items()}

    @staticmethod
    def values_in(entry):
        table, way, name = entry["iommu"], entry["path"], entry.get("name", "")
        if table == "counters":
            for counter in COUNTERS:
                yield ((counter, way, name, 0),
                       sum(board["counters"].get(counter, 0) for board in entry["boards"]))
            return
        if table == "step":
            name = name, entry["step"]
        at = way, name, entry["size"]
        if table == "work":
            yield (table, *at), entry["ns"] * MIB / entry["bytes"]
            yield ("bytes", *at), entry["bytes"]
            return
        yield (table, *at), entry["ns"]
        if table == "hit":
            yield ("longest hit", *at), entry["longest_ns"]
            yield ("waiting", *at), entry["waiting"]

    def get(self, table, way, name, size):
        return self.values.get((table, way, name, size))

    def us(self, table, way, name, size):
        value = self.get(table, way, name, size)
        return None if value is None else value / 1000

    def ways(self, table):
        measured = {at[1] for at in self.values if at[0] == table}
        return [way for way in WAYS if way in measured]

    def names(self, table, way):
        return list(dict.fromkeys(at[2] for at in self.values if at[:2] == (table, way)))

    def sizes(self, table, way=None):
        return sorted({at[3] for at in self.values if at[0] == table and way in (None, at[1])})

    def steps(self, way, name):
        """us by step, in the order of time."""
        found = {at[2][1]: value / 1000 for at, value in self.values.items()
                 if at[:2] == ("step", way) and at[2][0] == name}
        return sorted(found.items(), key=lambda item: item[1])


# ---- one fault ----

def print_faults(figures):
    print("\nA message of 4 KiB into a page that is absent, one way, us: by how that is found"
          "\n          | resident     absent   the fault     ratio |  traced: resident     absent")
    for way in figures.ways("one way"):
        resident, absent, *traced = (
            figures.us("one way", way, name, 4 * KIB)
            for name in ("resident", "adaptive", "resident traced", "absent traced"))
        more = None if None in (resident, absent) else absent - resident
        print(f"{way:<9} |{number(resident):>9} {number(absent):>10} {number(more):>11}"
              f" {number(divide(absent, resident), 2):>9} |"
              f"{number(traced[0]):>18} {number(traced[1]):>10}")
    for way in figures.ways("one way"):
        print(f"{way}: {WAYS[way]}")


def print_steps(figures, way):
    resident = dict(figures.steps(way, "resident"))
    steps = figures.steps(way, "absent")
    if not steps:
        return
    print(f"\n{way}, traced, us\n      at      step   resident")
    before = 0
    for step, us in steps:
        print(f"{number(us):>8} {number(us - before):>9} {number(resident.get(step)):>10}  {step}")
        before = us


# ---- all pages absent ----

def print_policies(figures, way):
    measured = figures.names("one way", way)
    names = [name for name in POLICIES if name in measured]
    titles = ["kernel" if (way, name) == ("sva", "adaptive") else name for name in names]
    print(f"\nAll destination pages absent, {way}: one way, us, and ratio to resident"
          "\n         |" + " |".join(f"{title:>16}" for title in titles))
    for size in figures.sizes("one way", way):
        base = figures.us("one way", way, "resident", size)
        cells = ((number(us), number(divide(us, base), 2))
                 for us in (figures.us("one way", way, name, size) for name in names))
        print(f"{size_name(size):>8} |" + " |".join(f"{us:>9} {ratio:>6}" for us, ratio in cells))


def page_cell(figures, way, size):
    resident, absent = (figures.us("one way", way, name, size)
                        for name in ("resident", "adaptive"))
    return number(None if None in (resident, absent) else (absent - resident) / (size / 4 / KIB))


def print_pages(figures):
    ways = figures.ways("one way")
    print("\nWhat each absent page adds (adaptive), us"
          "\n         |" + " |".join(f"{way:>9}" for way in ways))
    for size in figures.sizes("one way"):
        print(f"{size_name(size):>8} |" + " |".join(f"{page_cell(figures, way, size):>9}"
                                                    for way in ways))


# ---- hits beside misses ----

def hit_cell(figures, at):
    """With a star if fewer of the others still waited at the end."""
    us, longest = (figures.us(table, *at) for table in ("hit", "longest hit"))
    star = "" if figures.get("waiting", *at) == int(at[1]) else " *"
    return f"{number(us):>8} {number(longest):>8}{star:<2}"


def print_hits(figures, way):
    sizes = figures.sizes("hit")
    print(f"\nMessages into resident pages while others wait for a page of a slow disk, {way}:"
          "\none way, us, the median and the longest; *: longer than the others waited"
          "\nothers |" + " |".join(f"{size_name(size):>19}" for size in sizes))
    for name in sorted(figures.names("hit", way), key=int):
        cells = (hit_cell(figures, (way, name, size)) for size in sizes)
        refused = figures.get(REFUSED, way, f"--hits-beside {name}", 0)
        print(f"{name:>6} |" + " |".join(cells) + (" by the processor" if refused else ""))


# ---- work ----

def work_cells(figures, way, size):
    work, base = (figures.us("work", of, "", size) for of in (way, "software"))
    saved = "" if way == "software" or None in (work, base) else f"{base - work:+.0f}"
    copies = figures.get(COPIED, way, f"--work {size}", 0)
    each = divide(copies, figures.get("bytes", way, "", size) / MIB) if copies else None
    return f"{number(work):>9} {saved:>8} {number(each) if each else '':>8}"


def print_work(figures):
    ways = figures.ways("work")
    print("\nWork of the processor for each MiB received into resident pages (both nodes), in"
          "\nthousands of instructions; how many of them the engine saves; the engine's copies"
          "\n    size |" + " |".join(f"{way:>27}" for way in ways))
    for size in figures.sizes("work"):
        cells = (work_cells(figures, way, size) for way in ways)
        print(f"{size_name(size):>8} |" + " |".join(cells))


# ---- what the engine did ----

def print_counters(figures):
    print("\nPieces of frames, copied by the engine, refused by it (the processor did those),"
          "\nand taken over; page requests and faults; how often the endpoint was barred"
          "\n" + " ".join(f"{title:>10}" for title in COUNTERS.values()))
    for way in figures.ways(COPIED):
        for name in figures.names(COPIED, way):
            counts = (figures.get(counter, way, name, 0) for counter in COUNTERS)
            print(" ".join(f"{count:>10.0f}" for count in counts) + f"  {way} {name}")


def report(entries):
    figures = Figures(entries)
    print("\nReceiving through an IOMMU, MTU 9000, offloads off, pages of 4 KiB")
    if figures.ways("one way"):
        print_faults(figures)
        print_pages(figures)
    for way in figures.ways("step"):
        print_steps(figures, way)
    for way in figures.ways("one way"):
        print_policies(figures, way)
    for way in figures.ways("hit"):
        print_hits(figures, way)
    if figures.ways("work"):
        print_work(figures)
    if figures.ways(COPIED):
        print_counters(figures)


# ---- against an earlier run ----

def describe(at):
    table, way, name, size = at
    words = "IOMMU", table, way, name, size_name(size)
    return ", ".join(word for word in words if word), "ns", False


def list_changes(before, after, tolerance):
    old, new = (
        {at: value for at, value in Figures(entries).values.items()
         if at[0] in ("one way", "hit", "work")} for entries in (before, after))
    return tables.list_changes("IOMMU", old, new, tolerance, describe)
