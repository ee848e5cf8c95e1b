# SPDX-License-Identifier: BSD-2-Clause
"""Reads contract/omx_wire.txt, which says what the lines mean.

The checks of sources and the test of the dissector use this; the dissector has a reader
of its own.
"""
import collections
import re

PATH = "contract/omx_wire.txt"

Flag = collections.namedtuple("Flag", "mask name description")
Type = collections.namedtuple("Type", "number name struct payload to")
# owner: the struct that has it; offset: from the head, or from the header of UDP.
Field = collections.namedtuple("Field", "owner name size offset format description")


class Values:
    """An enum or, without a last one, flags."""

    def __init__(self, name, prefix, last=None):
        self.name, self.prefix, self.last = name, prefix, last
        self.entries = []

    def constant(self, name):
        return f"{self.prefix}_{name}"


class Struct:
    """A part or the body of packets."""

    def __init__(self, name, title=None):
        self.name, self.title = name, title
        self.own, self.parts = [], []


class Table:
    """All lists and structs by name, and the types of packets by number."""

    def __init__(self, text):
        self.constants, self.values, self.flags = {}, {}, {}
        self.structs, self.types, self.type_list = {}, {}, None
        add = None
        for number, line in enumerate(text.splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            try:
                if line.startswith("\t"):
                    add(self.expand(line.strip()))
                else:
                    add = self.section(*line.split(" ", 1))
            except (TypeError, ValueError, KeyError) as error:
                raise ValueError(f"{PATH}:{number}: cannot read this: {line.strip()}") from error

    def expand(self, line):
        return re.sub(r"\$([A-Z_]+)", lambda match: self.constants[match.group(1)], line)

    def section(self, kind, rest=""):
        """What takes the lines of the section."""
        if kind == "constants":
            return self.add_constant
        if kind == "values":
            values = self.values.setdefault(rest.split()[0], Values(*rest.split()))
            return lambda line: values.entries.append(named_number(line))
        if kind == "flags":
            flags = self.flags.setdefault(rest.split()[0], Values(*rest.split()))
            return lambda line: flags.entries.append(flag_of(line))
        if kind == "types":
            self.type_list = Values("type", *rest.split())
            return self.add_type
        if kind not in ("part", "packet"):
            raise ValueError(kind)
        struct = Struct(*rest.split(" ", 1))
        self.structs[struct.name] = struct
        return lambda line: self.add_field(struct, line)

    def add_constant(self, line):
        name, value = line.split()
        self.constants[name] = value

    def add_type(self, line):
        words, payload, to = [cell.strip() for cell in line.split("|")]
        number, name, struct = words.split()
        entry = Type(int(number), name, struct, payload, to)
        self.types[entry.number] = entry
        self.type_list.entries.append((entry.number, name))

    def add_field(self, struct, line):
        words = line.split(" ", 3)
        if words[0] == "with":
            struct.parts.append(self.structs[words[1]])
            return
        size, name, form = words[:3]
        struct.own.append(Field(struct.name, name, 0 if size == "*" else int(size),
                                self.own_size(struct), form, "".join(words[3:])))

    # ---- what follows from the lines ----

    @staticmethod
    def own_size(struct):
        """Without its parts."""
        return sum(field.size for field in struct.own)

    def size(self, struct):
        return sum(map(self.own_size, struct.parts)) + self.own_size(struct)

    def base(self, struct):
        """Where its own fields begin in a frame: a part is at the same place in all packets,
        or has offsets of its own if it is the part of none."""
        for owner in self.structs.values():
            if struct in owner.parts:
                before = owner.parts[:owner.parts.index(struct)]
                return self.size(self.structs["head"]) + sum(map(self.own_size, before))
        if struct.title:
            return 0
        return self.size(self.structs["head"]) + self.size(struct) - self.own_size(struct)

    def fields(self, struct):
        """Its own, with the offset in the frame."""
        base = self.base(struct)
        return [field._replace(offset=base + field.offset) for field in struct.own]

    def packet_fields(self, entry):
        """All fields of a packet of this type, in the order of its bytes."""
        struct = self.structs[entry.struct]
        return [field for part in (self.structs["head"], *struct.parts, struct)
                for field in self.fields(part)]

    def header_length(self, entry):
        return self.size(self.structs["head"]) + self.size(self.structs[entry.struct])

    def names(self, form):
        """Number and name of the values that a format stands for."""
        if form == "type":
            return self.type_list.entries
        return self.values[form].entries if form in self.values else []


def named_number(line):
    number, name = line.split()
    return int(number), name


def flag_of(line):
    mask, name, *description = line.split(" ", 2)
    return Flag(int(mask, 16), name, "".join(description))
