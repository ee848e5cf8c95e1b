# SPDX-License-Identifier: BSD-2-Clause
"""Makes packets of every type as contract/omx_wire.txt describes them, and captures of them."""
import random
import struct

MAC = {1: bytes.fromhex("020000000001"), 2: bytes.fromhex("020000000002")}
UDP = 17
VALID_NAME = b"node1:0"


class Packets:
    """Packets with random values; the same ones for the same seed."""

    def __init__(self, table, seed):
        self.table, self.chance = table, random.Random(seed)

    def value(self, field):
        """A number that the field may have, as far as the field alone decides."""
        names = self.table.names(field.format)
        if names:
            return self.chance.choice(names)[0]
        if field.format in self.table.flags:
            return sum(flag.mask & self.chance.getrandbits(8)
                       for flag in self.table.flags[field.format].entries)
        return self.chance.getrandbits(8 * field.size - 1)

    def values(self, entry):
        """By (struct, field): what a packet of this type may have."""
        return {(field.owner, field.name): self.value(field)
                for field in self.table.packet_fields(entry) if field.size}

    def bundled(self, length, said=None):
        """A message in a BUNDLE.  said: the length that its field has."""
        said = length if said is None else said
        return self.chance.randbytes(8) + struct.pack(">II", said, 0) + self.chance.randbytes(length)

    def payload(self, entry):
        """Bytes that fit, and what the fields have to say of them."""
        data = self.chance.randbytes(self.chance.randrange(1, 200))
        fits = {
            "HELLO": (VALID_NAME, {"name_length": len(VALID_NAME), "flags": 1}),
            "BYE": (VALID_NAME, {"name_length": len(VALID_NAME)}),
            "BUNDLE": (self.bundled(16) + self.bundled(len(data)), {}),
            "EAGER": (data, {"offset": 1000, "msg_length": 1000 + len(data)}),
            "PULL_REQUEST": (b"", {"frame_length": 1456, "length": 4 * 1456 - 3,
                                   "wanted": 0b1011}),
            "PULL_RESPONSE": (data, {}),
            "PUT": (data, {"length": 200 + len(data)}),
            "GET": (b"", {"length": self.chance.randrange(4097), "flags": 0}),
            "ATOMIC": (b"", {"size": self.chance.choice((4, 8))}),
            "ACCESS_RESPONSE": (data, {}),
        }
        return fits.get(entry.name, (b"", {}))

    def make(self, entry, payload=None, **changed):
        """Its bytes.  changed: fields of the body, or head_FIELD."""
        values = self.values(entry)
        fitting, said = self.payload(entry)
        payload = fitting if payload is None else payload
        values["head", "version"] = int(self.table.constants["OMX_WIRE_VERSION"])
        values["head", "type"] = entry.number
        values["head", "length"] = self.table.header_length(entry) + len(payload)
        for name, value in {**said, **changed}.items():
            owner = "head" if name.startswith("head_") else entry.struct
            name = name.removeprefix("head_")
            assert (owner, name) in values, (owner, name)
            values[owner, name] = value
        return b"".join(values[field.owner, field.name].to_bytes(field.size, "big")
                        for field in self.table.packet_fields(entry) if field.size) + payload

    def of_every_type(self):
        return [self.make(entry) for entry in self.table.types.values()]

    # ---- packets that are wrong ----

    def spoiled(self, frame):
        """Cut, or with bytes changed, or with another length."""
        frame, way = bytearray(frame), self.chance.randrange(4)
        if way == 0:
            return bytes(frame[:self.chance.randrange(len(frame))])
        if way == 1:
            frame[2:4] = self.chance.randrange(len(frame) + 20).to_bytes(2, "big")
            return bytes(frame)
        for _ in range(self.chance.randrange(1, 5)):
            begin = 0 if way == 2 else min(16, len(frame) - 1)
            at = self.chance.randrange(begin, len(frame))
            frame[at] = self.chance.choice((0, 1, 0x7f, 0x80, 0xff, self.chance.randrange(256)))
        return bytes(frame)

    def noise(self):
        """Random bytes, mostly behind a head that is right."""
        body = self.chance.randbytes(self.chance.randrange(100))
        if self.chance.random() < 0.2:
            return body
        number = self.chance.randrange(max(self.table.types) + 3)
        head = struct.pack(">BBHHHII", 2, number, 16 + len(body), 1, 2, 3, 4)
        return head + body


# ---- carriers: a frame with its link's headers, and where in it the frame begins ----

def ethernet(frame, ethertype=0x86df):
    return MAC[2] + MAC[1] + struct.pack(">H", ethertype) + frame, 14


def in_udp(frame, ethertype, version):
    return struct.pack(">BB", version, 0) + MAC[2] + MAC[1] + struct.pack(">H", ethertype) + frame


def udp4(frame, port=8687, ethertype=0x86df, version=1):
    data = in_udp(frame, ethertype, version)
    udp = struct.pack(">HHHH", 50000, port, 8 + len(data), 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 2, 28 + len(data), 1, 0x4000, 64, UDP, 0,
                     bytes((10, 0, 1, 1)), bytes((10, 0, 2, 2)))
    return MAC[2] + MAC[1] + b"\x08\x00" + ip + udp + data, 14 + 28 + 16


def udp6(frame, port=8687, ethertype=0x86df, version=1):
    data = in_udp(frame, ethertype, version)
    udp = struct.pack(">HHHH", 50000, port, 8 + len(data), 1)
    ip = struct.pack(">IHBB16s16s", 0x62000000, 8 + len(data), UDP, 64,
                     bytes.fromhex("fd" + "00" * 14 + "01"), bytes.fromhex("fd" + "00" * 14 + "02"))
    return MAC[2] + MAC[1] + b"\x86\xdd" + ip + udp + data, 14 + 48 + 16


CARRIERS = (ethernet, udp4, udp6)


def write_capture(path, packets):
    """packets: bytes, or bytes and how many of them were captured."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for number, packet in enumerate(packets):
            data, kept = packet if isinstance(packet, tuple) else (packet, len(packet))
            file.write(struct.pack("<IIII", number, 0, min(kept, len(data)), len(data)))
            file.write(data[:kept])
