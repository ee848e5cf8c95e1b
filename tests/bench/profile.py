#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Count the instructions of a guest by function.

The emulator's execution log has a line per translation block; stepping makes
every block one instruction, and each turn of a rep prefix one more, which is
what its instruction clock counts too.  So shares here are shares of virtual
time, without sampling error.  Run by profile.sh.
"""
import argparse
import bisect
import collections
import json
import os
import queue
import socket
import subprocess
import sys
import threading

THUNKS = ("__indirect_thunk_start", "__indirect_thunk_end")


# ---- symbols ----

class Symbols:
    """Addresses of the kernel and of the programs' objects to names."""

    def __init__(self, directory):
        self.thunks = {}
        found = dict(self.kernel(os.path.join(directory, "kallsyms")))
        found.update(self.user(os.path.join(directory, "maps")))
        self.starts = sorted(found)
        self.names = [found[start] for start in self.starts]

    def kernel(self, path):
        with open(path, encoding="ascii") as file:
            for line in file:
                address, kind, name, *module = line.split()
                if name in THUNKS:
                    self.thunks[name] = int(address, 16)
                if kind in "tTwW" and not name.startswith("__pfx_"):
                    yield int(address, 16), (name, module[0] if module else "kernel")

    @classmethod
    def user(cls, path):
        with open(path, encoding="ascii") as file:
            maps = [line.split() for line in file]
        bases = {}
        for span, mode, *_, name in (m for m in maps if len(m) == 6):
            start = int(span.split("-")[0], 16)
            bases.setdefault(name, start)
            if "x" in mode:
                yield start, ("?", os.path.basename(name))
            if "x" in mode and name.startswith("/"):
                yield from cls.object(name, bases[name])

    @staticmethod
    def object(path, base):
        for dynamic in ([], ["-D"]):
            listing = subprocess.run(["nm", *dynamic, path], capture_output=True,
                                     text=True, check=False).stdout
            for line in listing.splitlines():
                words = line.split()
                if len(words) == 3 and words[1] in "tTwWi":
                    name = words[2].split("@")[0]
                    yield base + int(words[0], 16), (name, os.path.basename(path))

    def find(self, address):
        """(index of the function, whether this is its first instruction)"""
        index = bisect.bisect_right(self.starts, address) - 1
        return index, index >= 0 and self.starts[index] == address

    def name(self, index):
        return self.names[index] if index >= 0 else ("?", "?")


# ---- the emulator ----

class Monitor:
    """Speaks QMP; ends the program when the emulator ends."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.execute("qmp_capabilities")

    def listen(self):
        for line in self.socket.makefile():
            answer = json.loads(line)
            if "return" in answer or "error" in answer:
                self.answers.put(answer)
        sys.stderr.write("profile.py: the guest ended early\n")
        os._exit(1)

    def execute(self, command, **arguments):
        order = {"execute": command, "arguments": arguments}
        self.socket.sendall(json.dumps(order).encode() + b"\n")
        answer = self.answers.get()
        if answer.get("return") not in ({}, ""):
            sys.exit(f"profile.py: {command} {arguments}: {answer}")

    def human(self, *lines):
        for line in lines:
            self.execute("human-monitor-command", **{"command-line": line})


class Trace:
    """Instructions by address, and by whom functions were entered."""

    def __init__(self, entries, thunks):
        self.counts = collections.Counter()
        self.edges = collections.Counter()
        self.entries = entries
        # Indirect calls go through these: the caller is who came before.
        self.thunks = thunks

    def read(self, log, wanted):
        counts, edges, entries = self.counts, self.edges, self.entries
        low, high = self.thunks
        here = previous = b""
        seen = 0
        while seen < wanted:
            line = log.readline()
            if line.startswith(b"Trace"):
                here = line.split(b"/", 2)[1]
                counts[here] += 1
                seen += 1
                if here in entries:
                    edges[previous, here] += 1
                if not low <= here < high:
                    previous = here
            elif line.startswith(b"Stopped"):
                counts[here] -= 1       # logged, but not run
                seen -= 1


def drain(log):
    while log.read(1 << 20):
        pass


def capture(arguments, symbols):
    trace = Trace({b"%016x" % start for start in symbols.starts},
                  [b"%016x" % symbols.thunks.get(edge, 0) for edge in THUNKS])
    monitor = Monitor(arguments.monitor)
    # Readable and writable: then neither we nor the emulator wait for the other.
    log = os.fdopen(os.open(arguments.trace, os.O_RDWR), "rb", buffering=1 << 20)
    monitor.human("logfile " + arguments.trace, "singlestep on", "log exec,nochain")
    trace.read(log, arguments.instructions)
    # The emulator hears nobody while it cannot write.
    threading.Thread(target=drain, args=(log,), daemon=True).start()
    monitor.human("log none", "singlestep off")
    return trace


# ---- the table ----

def by_function(trace, symbols):
    spent, calls = collections.Counter(), collections.Counter()
    callers = collections.defaultdict(collections.Counter)
    for address, count in trace.counts.items():
        if address:
            index, first = symbols.find(int(address, 16))
            spent[index] += count
            calls[index] += count if first else 0
    for (source, target), count in trace.edges.items():
        if source:
            caller, _ = symbols.find(int(source, 16))
            callee, _ = symbols.find(int(target, 16))
            callers[callee][caller] += count
    return spent, calls, callers


def messages_in(symbols, calls, name):
    return sum(n for index, n in calls.items() if symbols.name(index)[0] == name)


def print_objects(spent, symbols, total, messages):
    objects = collections.Counter()
    for index, count in spent.items():
        objects[symbols.name(index)[1]] += count
    print("\n     %   per message  object")
    for name, count in objects.most_common():
        if count * 1000 >= total:
            print(f"{count / total:6.1%} {count / messages:13.1f}  {name}")


def print_functions(spent, calls, callers, symbols, total, messages, lines):
    print("\n     %   sum   per message   calls  function, mostly entered from")
    running = 0
    for index, count in spent.most_common(lines):
        running += count
        name, where = symbols.name(index)
        where = "" if where == "kernel" else " " + (where if "[" in where else f"[{where}]")
        top = callers[index].most_common(1)
        caller = symbols.name(top[0][0])[0] if top else "?"
        print(f"{count / total:6.1%} {running / total:5.0%} {count / messages:13.1f}"
              f" {calls[index] / messages:7.2f}  {name}{where} < {caller}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("monitor", help="the emulator's QMP socket")
    parser.add_argument("trace", help="the pipe that its log goes to")
    parser.add_argument("directory", help="where kallsyms and maps are")
    parser.add_argument("--instructions", type=int, default=2000000)
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--message", default="omx_isend",
                        help="the function that is entered once for each message")
    arguments = parser.parse_args()
    symbols = Symbols(arguments.directory)
    trace = capture(arguments, symbols)
    spent, calls, callers = by_function(trace, symbols)
    messages = messages_in(symbols, calls, arguments.message) or 1
    total = sum(spent.values())
    print(f"{total} instructions, {messages} messages,"
          f" {total / messages:.0f} instructions (ns) per message")
    print_objects(spent, symbols, total, messages)
    print_functions(spent, calls, callers, symbols, total, messages, arguments.lines)
    sys.stdout.flush()
    os._exit(0)     # the threads have nothing more to say


if __name__ == "__main__":
    main()
