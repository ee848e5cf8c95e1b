# SPDX-License-Identifier: BSD-2-Clause
"""The table of when_peer: what conditional writes save, with the saving fitted as a*p + b."""
import statistics

from tables import number

PAGE = 4096
WAYS = ("key, then write", "conditional write")
MODES = ("unpinned", "pin")


def medians(entries):
    """us by kind and number of pages."""
    rounds = {}
    for entry in entries:
        if entry["kind"].startswith(WAYS):
            at = entry["kind"], entry["size"] // PAGE
            rounds.setdefault(at, []).append(entry["ns"] / 1e3)
    return {at: statistics.median(values) for at, values in rounds.items()}


def fit(points):
    """a and b of the line a*p + b, by least squares."""
    slope, intercept = statistics.linear_regression(*zip(*points))
    return slope, intercept


def print_mode(figures, mode):
    later, at_once = (f"{way}, {mode}" for way in WAYS)
    pages = sorted(at[1] for at in figures if at[0] == later and (at_once, at[1]) in figures)
    if not pages:
        return
    print(f"\nFrom the key until the write is in place, us, memory {mode}, prepared for each write")
    print("   pages |  after key conditional    saving")
    for count in pages:
        ours = figures[later, count], figures[at_once, count]
        cells = (number(value) for value in (*ours, ours[0] - ours[1]))
        print(f"{count:>8} |" + " ".join(f"{cell:>10}" for cell in cells))
    if len(pages) > 1:
        a, b = fit([(p, figures[later, p] - figures[at_once, p]) for p in pages])
        print(f"saving: {number(a, 3)} us for each of p pages + {number(b)} us")


def report(entries):
    figures = medians(entries)
    for mode in MODES:
        print_mode(figures, mode)
