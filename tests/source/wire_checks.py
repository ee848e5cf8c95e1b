# SPDX-License-Identifier: BSD-2-Clause
"""contract/omx_wire.txt against docs/PROTOCOL.md and contract/omx_wire.h.

The checks yield messages.  `assertions` yields lines of C: what compiles is true of the
header.  What no assertion can find, a name that the table lacks, is looked for in the text.
"""
import re

import wire_table
from document_checks import rows, section, sections

PROTOCOL = "docs/PROTOCOL.md"
WIRE = "contract/omx_wire.h"
FIELD_TABLE = "| offset | size | field | |"
TYPE_TABLE = "| type | name | head and body | payload | to |"


def read_table(tree):
    return wire_table.Table(tree.text(wire_table.PATH)) if tree.has(wire_table.PATH) else None


# ---- the document ----

def flag_text(flags, flag):
    text = f"0x{flag.mask:02x} `{flags.constant(flag.name)}`"
    return f"{text}: {flag.description}" if flag.description else text


def field_text(table, field):
    """The last cell of its row."""
    if field.format in table.flags:
        flags = table.flags[field.format]
        text = "; ".join(flag_text(flags, flag) for flag in flags.entries)
        return f"{text}. {field.description}" if field.description else text
    if field.format in table.values and not field.description:
        return ", ".join(f"{number} {name}" for number, name in table.values[field.format].entries)
    return field.description


def row(*cells):
    return re.sub(r"  +\|", " |", "| " + " | ".join(map(str, cells)) + " |")


def field_row(table, field):
    name = field.name if field.format in ("reserved", "rest") else f"`{field.name}`"
    return row(field.offset, field.size or "", name, field_text(table, field))


def title_of(table, struct):
    """Of the section that describes it: that of a body names the types that have it."""
    names = [f"{entry.name} ({entry.number})" for entry in table.types.values()
             if entry.struct == struct.name]
    return struct.title or ", ".join(names)


def first_table(text, head):
    """The rows of the first table with this head, as they are written."""
    lines = text.splitlines()
    begin = lines.index(head) + 2 if head in lines else len(lines)
    end = begin
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return lines[begin:end]


def compare(where, said, wanted):
    for line in wanted:
        if line not in said:
            yield f"{PROTOCOL}: {where}: write {line}"
    for line in said:
        if line not in wanted:
            yield f"{PROTOCOL}: {where}: remove {line}"
    if said != wanted and sorted(said) == sorted(wanted):
        yield f"{PROTOCOL}: {where}: order the rows as in {wire_table.PATH}"


def packet_tables(tree):
    """Each struct has a section whose table is that of contract/omx_wire.txt."""
    table = read_table(tree)
    if not table:
        return
    text = tree.optional(PROTOCOL)
    found = {title: body for level in (2, 3) for title, body in sections(text, level)}
    for struct in table.structs.values():
        title = title_of(table, struct)
        if title not in found:
            yield f'{PROTOCOL}: add a section "{title}" with the fields of {struct.name}'
            continue
        wanted = [field_row(table, field) for field in table.fields(struct)]
        yield from compare(title, first_table(found[title], FIELD_TABLE), wanted)
    wanted = [row(entry.number, entry.name, table.header_length(entry), entry.payload, entry.to)
              for entry in table.types.values()]
    yield from compare("the types", first_table(section(text, 2, "Packets"), TYPE_TABLE), wanted)


def packet_numbers(tree):
    """What the document says of numbers in sentences."""
    table = read_table(tree)
    if not table:
        return
    text = tree.optional(PROTOCOL)
    said = re.findall(r"\b(\d+)\s+([A-Z][A-Z_]+)\b", section(text, 3, "Status").partition(":")[0])
    wanted = table.values["status"].entries
    if [(int(number), name) for number, name in said] != wanted:
        yield (f"{PROTOCOL}: Status: write "
               + ", ".join(f"{number} {name}" for number, name in wanted))
    checks = [cells[0] for cells in rows(section(text, 2, "What a receiver checks"))]
    for check in (f"`type` is 1 ... {max(table.types)}",
                  f"`version` is {table.constants['OMX_WIRE_VERSION']}"):
        if check not in checks:
            yield f"{PROTOCOL}: What a receiver checks: write {check}"


# ---- the header ----

def packet_names(tree):
    """Flags and structs of the header that the table lacks: no assertion is about them."""
    table = read_table(tree)
    if not table:
        return
    text = tree.optional(WIRE)
    known = {flags.constant(flag.name) for flags in table.flags.values()
             for flag in flags.entries}
    prefixes = "|".join(sorted({flags.prefix for flags in table.flags.values()}))
    for name in re.findall(r"(?m)^#define\s+((?:%s)_\w+)" % prefixes, text):
        if name not in known and name.rsplit("_", 1)[0] not in known:
            yield f"{wire_table.PATH}: add the flag {name} of {WIRE}"
    for name in re.findall(r"(?m)^struct omx_wire_(\w+) \{", text):
        if name not in table.structs:
            yield f"{wire_table.PATH}: add the fields of struct omx_wire_{name}"


def assertions(table):
    """A C file that compiles if the header has these constants, structs and numbers."""
    yield "#include <stddef.h>"
    yield "#define __packed __attribute__((packed))"
    yield '#include "omx_wire.h"'
    yield '#include "omx_abi.h"'
    for name, value in table.constants.items():
        yield equal(name, value)
    for values in (table.type_list, *table.values.values()):
        for number, name in values.entries:
            yield equal(values.constant(name), number)
        yield equal(values.last, 1 + max(number for number, _ in values.entries))
    for flags in table.flags.values():
        for flag in flags.entries:
            yield from flag_assertions(flags.constant(flag.name), flag.mask)
    for struct in table.structs.values():
        yield from struct_assertions(table, struct)


def equal(expression, value):
    return f"static_assert({expression} == {value});"


def flag_assertions(name, mask):
    yield equal(name, f"0x{mask:02x}")
    lowest = mask & -mask
    if mask != lowest:
        yield equal(f"{name}_SHIFT", lowest.bit_length() - 1)


def struct_assertions(table, struct):
    name, offset = f"struct omx_wire_{struct.name}", 0
    for part in struct.parts:
        yield equal(f"offsetof({name}, {part.name})", offset)
        offset += table.own_size(part)
    for field in struct.own:
        if field.size:
            yield equal(f"offsetof({name}, {field.name})", offset + field.offset)
            yield equal(f"sizeof((({name} *)0)->{field.name})", field.size)
    yield equal(f"sizeof({name})", table.size(struct))


CHECKS = (packet_tables, packet_numbers, packet_names)
