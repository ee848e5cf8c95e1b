# SPDX-License-Identifier: BSD-2-Clause
"""The steps of messages of one page, by the trace events that iommu.sh has recorded."""
import re
import statistics

WARMUP = 2      # messages, as in one_way.h

FIELD = re.compile(r"(\w+)=([^\s,]+)")


class Event:
    def __init__(self, entry):
        self.name = entry["event"]
        self.ns = entry["ns"]
        self.fields = dict(FIELD.findall(entry["fields"]))

    def has(self, field, pattern):
        return re.fullmatch(pattern, self.fields.get(field, "")) is not None


BEGIN, END = "the message is announced", "the message is complete"
PAGE_IN, KERNEL_FAULT = "page-in begins", "the kernel's page fault begins"
REQUEST, RESUMED = "the kernel takes the page request", "the copy is resumed"

# (step, event, what a field of it is, steps of which one must have come before)
STEPS = (
    (BEGIN, "omx_rndv_send", None, ()),
    ("the receiver starts the pull", "omx_pull_start", None, ()),
    ("the driver finds the page absent", "omx_pull_lacks_pages", None, ()),
    ("the frame is requested", "omx_pull_request_sent", None, ()),
    ("the frame arrives", "omx_pull_response_received", None, ()),
    ("the copy is submitted", "omx_engine_submit", ("tries", "0"), ()),
    ("the IOMMU's interrupt: an access is blocked", "irq_handler_entry",
     ("name", "dmar[0-9]+"), ()),
    ("the IOMMU's interrupt: a page request", "irq_handler_entry",
     ("name", "dmar[0-9]+-prq"), ()),
    ("the engine's interrupt", "irq_handler_entry", ("name", "omx-engine"), ()),
    ("the driver sees the fault", "omx_engine_land", ("again", "1"), ()),
    (REQUEST, "prq_report", None, ()),
    (PAGE_IN, "omx_page_in_begin", None, ()),
    (KERNEL_FAULT, "fault_begin", None, (PAGE_IN, REQUEST)),
    ("the kernel's page fault ends", "fault_end", None, (KERNEL_FAULT,)),
    ("the page is mapped for the engine", "map", None, (PAGE_IN,)),
    ("page-in ends", "omx_page_in_end", None, ()),
    ("the kernel responds to the page request", "page_response", None, ()),
    (RESUMED, "omx_engine_submit", ("tries", "[1-9]"), ()),
    ("the engine's interrupt after that", "irq_handler_entry", ("name", "omx-engine"),
     (RESUMED,)),
    ("the driver sees that the copy has landed", "omx_engine_land", ("again", "0"), ()),
    (END, "omx_pull_done", None, ()),
)


def messages(events):
    """The events of one message after the other, from its announcement to its end."""
    message = None
    for event in events:
        if event.name == "omx_rndv_send":
            message = []
        if message is not None:
            message.append(event)
        if event.name == "omx_pull_done" and message:
            yield message
            message = None


def steps_of(message):
    """ns from the announcement, by step."""
    found = {}
    for step, name, field, after in STEPS:
        earliest = [found[other] for other in after if other in found]
        if after and not earliest:
            continue
        ns = next((event.ns for event in message
                   if event.name == name and (not field or event.has(*field))
                   and event.ns >= min(earliest, default=event.ns)), None)
        if ns is not None:
            found[step] = ns
    return {step: ns - found[BEGIN] for step, ns in found.items()}


def medians(recorded):
    """ns by step, in the order of time; only of steps that most messages have."""
    values = {}
    for steps in recorded:
        for step, ns in steps.items():
            values.setdefault(step, []).append(ns)
    common = {step: statistics.median(ns) for step, ns in values.items()
              if len(ns) > len(recorded) / 2}
    return dict(sorted(common.items(), key=lambda item: item[1]))


def reduce(entries):
    """Entries with steps in place of those with events."""
    traces = {}
    for entry in entries:
        if entry["iommu"] == "event":
            traces.setdefault((entry["path"], entry["name"]), []).append(Event(entry))
    kept = [entry for entry in entries if entry["iommu"] != "event"]
    for (path, name), events in traces.items():
        recorded = [steps_of(message) for message in messages(events)][WARMUP:]
        kept += [{"iommu": "step", "path": path, "name": name, "size": 4096, "step": step,
                  "ns": ns} for step, ns in medians(recorded).items()]
    return kept
