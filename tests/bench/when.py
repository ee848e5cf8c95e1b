# SPDX-License-Identifier: BSD-2-Clause
"""The tables of when_peer: what conditional writes save, with the saving fitted as a*p + b;
and of when_rendezvous_peer: long messages beside conditional writes of the same bytes."""
import statistics

from tables import number, size_name

PAGE = 4096
WAYS = ("key, then write", "conditional write")
MODES = ("unpinned", "pin")
EXCHANGES = ("message", "conditional write")
ORDERS = ("receiver first", "sender first")
MTUS = ("1500", "9000")


def medians(entries):
    """us by kind and number of bytes."""
    rounds = {}
    names = tuple(f"{name}, " for name in WAYS + EXCHANGES)
    for entry in entries:
        if entry["kind"].startswith(names):
            at = entry["kind"], entry["size"]
            rounds.setdefault(at, []).append(entry["ns"] / 1e3)
    return {at: statistics.median(values) for at, values in rounds.items()}


def fit(points):
    """a and b of the line a*p + b, by least squares."""
    slope, intercept = statistics.linear_regression(*zip(*points))
    return slope, intercept


def print_mode(figures, mode):
    later, at_once = (f"{way}, {mode}" for way in WAYS)
    pages = sorted(at[1] // PAGE for at in figures
                   if at[0] == later and (at_once, at[1]) in figures)
    if not pages:
        return
    print(f"\nFrom the key until the write is in place, us, memory {mode}, prepared for each write")
    print("   pages |  after key conditional    saving")
    for count in pages:
        ours = figures[later, count * PAGE], figures[at_once, count * PAGE]
        cells = (number(value) for value in (*ours, ours[0] - ours[1]))
        print(f"{count:>8} |" + " ".join(f"{cell:>10}" for cell in cells))
    if len(pages) > 1:
        a, b = fit([(p, figures[later, p * PAGE] - figures[at_once, p * PAGE]) for p in pages])
        print(f"saving: {number(a, 3)} us for each of p pages + {number(b)} us")


def print_exchanges(figures, mtu):
    kinds = [f"{way}, {order}, MTU {mtu}" for order in ORDERS for way in EXCHANGES]
    sizes = sorted({size for kind, size in figures if kind in kinds})
    if not sizes:
        return
    print(f"\nFrom the second call until the receiver has the bytes, us, MTU {mtu}\n"
          "         |        receiver first         sender first\n"
          "    size |" + " ".join(f"{head:>10}" for head in ("message", "write") * 2))
    for size in sizes:
        cells = (number(figures.get((kind, size))) for kind in kinds)
        print(f"{size_name(size):>8} |" + " ".join(f"{cell:>10}" for cell in cells))


def report(entries):
    figures = medians(entries)
    for mode in MODES:
        print_mode(figures, mode)
    for mtu in MTUS:
        print_exchanges(figures, mtu)
