#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Requests to the netlink family that are wrong, each in one way, and random ones.

usage: fuzz_netlink.py               wrong and random requests, as root
       fuzz_netlink.py --ordinary    what somebody without privileges may do
       fuzz_netlink.py --peers N     N peers are dumped, each once, in several pieces
"""
import collections
import errno
import os
import random
import socket
import struct
import sys

NETLINK_GENERIC, SOL_NETLINK = 16, 270
NETLINK_CAP_ACK, NETLINK_EXT_ACK = 10, 11
REQUEST, ACK, DUMP, ACK_TLVS = 1, 4, 0x300, 0x200
ERROR, DONE = 2, 3
CONTROLLER = 16

# contract/omx_netlink.h
(BOARD_GET, PEER_GET, ENDPOINT_GET, COUNTER_GET, BOARD_ATTACH, BOARD_DETACH, BOARD_SET, PEER_ADD,
 PEER_REMOVE, COUNTER_CLEAR) = range(1, 11)
COMMANDS = 18
PAD, BOARD, IFNAME, FORCE, MAC, NAME, ADDRESS, SCOPE, FLAGS = range(1, 10)
PEER, LAST = 16, 39

Answer = collections.namedtuple("Answer", "error said datagrams objects")


def attribute(kind, data):
    if isinstance(data, int):
        data = struct.pack("=I", data)
    elif isinstance(data, str):
        data = data.encode() + b"\0"
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Netlink:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        for option in (NETLINK_EXT_ACK, NETLINK_CAP_ACK):
            self.socket.setsockopt(SOL_NETLINK, option, 1)
        self.socket.settimeout(20)
        self.sequence = 0
        self.family = CONTROLLER
        found = self.ask(3, 0, attribute(2, "omx"))
        self.family = struct.unpack("=H", found.objects[0][1])[0]

    def ask(self, command, flags, body=b"", head=None):
        """The answer to a request; body: its attributes."""
        self.sequence += 1
        generic = struct.pack("=BBH", command, 1, 0) if head is None else head
        length = 16 + len(generic) + len(body)
        self.socket.send(struct.pack("=IHHII", length, self.family, REQUEST | ACK | flags,
                                     self.sequence, 0) + generic + body)
        return self.answer()

    def answer(self):
        objects, datagrams = [], 0
        while True:
            data = self.socket.recv(65536)
            datagrams += 1
            while data:
                length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if sequence != self.sequence:
                    continue
                if kind in (ERROR, DONE):
                    error = -struct.unpack_from("=i", body)[0]
                    rest = body[4 if kind == DONE else 20:] if flags & ACK_TLVS else b""
                    said = attributes(rest).get(1, b"").rstrip(b"\0").decode()
                    return Answer(error, said, datagrams, objects)
                objects.append(attributes(body[4:]))


def check(condition, *what):
    if not condition:
        sys.exit("fuzz_netlink: " + " ".join(str(word) for word in what))


MAC_TEXT = b"\2\0\0\0\7\7"
V4 = b"\0" * 10 + b"\xff\xff\xc0\0\2\7"
RANGE = (errno.ERANGE, errno.EINVAL)
# What is wrong, the command, its flags and attributes, and which errors are right.
WRONG = (
    ("no such command", COMMANDS + 50, 0, b"", (errno.EOPNOTSUPP,)),
    ("an event as a request", COMMANDS - 1, 0, b"", (errno.EOPNOTSUPP,)),
    ("a get that is no dump", BOARD_GET, 0, b"", (errno.EOPNOTSUPP,)),
    ("a change that is a dump", BOARD_ATTACH, DUMP, attribute(IFNAME, "x"),
     (errno.EOPNOTSUPP,)),
    ("a board that is not there", PEER_GET, DUMP, attribute(BOARD, 17), (errno.ENODEV,)),
    ("a board beyond the last", PEER_GET, DUMP, attribute(BOARD, 32), RANGE),
    ("half a number", COUNTER_GET, DUMP, attribute(BOARD, b"\0\0"), RANGE),
    ("a number that is too long", COUNTER_GET, DUMP, attribute(BOARD, b"\0" * 8), RANGE),
    ("another command's attribute", ENDPOINT_GET, DUMP, attribute(IFNAME, "eth0"), RANGE),
    ("an attribute that is only for answers", BOARD_DETACH, 0,
     attribute(IFNAME, "nowhere") + attribute(FLAGS, 1), RANGE),
    ("an attribute that nobody knows", BOARD_ATTACH, 0,
     attribute(IFNAME, "nowhere") + attribute(200, 1), RANGE),
    ("bytes behind the attributes", BOARD_ATTACH, 0, attribute(IFNAME, "nowhere") + b"\1\1",
     RANGE),
    ("an attribute that ends behind the message", BOARD_ATTACH, 0,
     struct.pack("=HH", 40, IFNAME) + b"eth0", RANGE),
    ("no name", BOARD_ATTACH, 0, b"", (errno.EINVAL,)),
    ("an empty name", BOARD_ATTACH, 0, attribute(IFNAME, ""), (errno.ENODEV,)),
    ("a name without an end", BOARD_ATTACH, 0, attribute(IFNAME, b"nowhere"), RANGE),
    ("a name that is too long", BOARD_ATTACH, 0, attribute(IFNAME, "x" * 16), RANGE),
    ("an interface that is not there", BOARD_ATTACH, 0, attribute(IFNAME, "nowhere"),
     (errno.ENODEV,)),
    ("a board that is none", BOARD_DETACH, 0, attribute(IFNAME, "lo"), (errno.ENODEV,)),
    ("a flag with a value", BOARD_DETACH, 0,
     attribute(IFNAME, "nowhere") + attribute(FORCE, 1), RANGE),
    ("no name of a board", BOARD_SET, 0, attribute(BOARD, 0), (errno.EINVAL,)),
    ("a name of no board", BOARD_SET, 0, attribute(NAME, "x"), (errno.EINVAL,)),
    ("a name of a board that is not there", BOARD_SET, 0,
     attribute(BOARD, 30) + attribute(NAME, "x"), (errno.ENODEV,)),
    ("a name of a board with a slash", BOARD_SET, 0,
     attribute(BOARD, 0) + attribute(NAME, "a/b"), (errno.EINVAL,)),
    ("no board", PEER_ADD, 0, attribute(MAC, MAC_TEXT), (errno.EINVAL,)),
    ("no address", PEER_ADD, 0, attribute(BOARD, 0), (errno.EINVAL,)),
    ("two addresses", PEER_ADD, 0,
     attribute(BOARD, 0) + attribute(MAC, MAC_TEXT) + attribute(ADDRESS, V4), (errno.EINVAL,)),
    ("half a MAC", PEER_ADD, 0, attribute(BOARD, 0) + attribute(MAC, b"\2\0\0"), RANGE),
    ("a MAC that is too long", PEER_ADD, 0,
     attribute(BOARD, 0) + attribute(MAC, MAC_TEXT + b"\0\0"), RANGE),
    ("a MAC of many", PEER_ADD, 0, attribute(BOARD, 0) + attribute(MAC, b"\1\0\0\0\0\1"),
     (errno.EINVAL,)),
    ("a MAC of nobody", PEER_ADD, 0, attribute(BOARD, 0) + attribute(MAC, b"\0" * 6),
     (errno.EINVAL,)),
    ("a name with a blank", PEER_ADD, 0,
     attribute(BOARD, 0) + attribute(MAC, MAC_TEXT) + attribute(NAME, "two words"),
     (errno.EINVAL,)),
    ("a name of a peer that is too long", PEER_ADD, 0,
     attribute(BOARD, 0) + attribute(MAC, MAC_TEXT) + attribute(NAME, "x" * 80), RANGE),
    ("half an address", PEER_ADD, 0, attribute(BOARD, 0) + attribute(ADDRESS, V4[:4]), RANGE),
    ("an address of nobody", PEER_ADD, 0, attribute(BOARD, 0) + attribute(ADDRESS, b"\0" * 16),
     (errno.EINVAL,)),
    ("a peer on a board that is not there", PEER_ADD, 0,
     attribute(BOARD, 30) + attribute(MAC, MAC_TEXT), (errno.ENODEV,)),
    ("a peer that is not there", PEER_REMOVE, 0, attribute(BOARD, 0) + attribute(MAC, MAC_TEXT),
     (errno.ENOENT,)),
    ("a peer of no MAC", PEER_REMOVE, 0, attribute(BOARD, 0) + attribute(MAC, b"\0" * 6),
     (errno.ENOENT,)),
    ("counters of no board", COUNTER_CLEAR, 0, b"", (errno.EINVAL,)),
    ("counters of a board that is not there", COUNTER_CLEAR, 0, attribute(BOARD, 30),
     (errno.ENODEV,)),
    ("nothing to be removed", PEER_REMOVE, 0, b"", (errno.EINVAL,)),
    ("a name of what is removed", PEER_REMOVE, 0,
     attribute(BOARD, 0) + attribute(MAC, MAC_TEXT) + attribute(NAME, "x"), RANGE),
)


def be_wrong(netlink):
    for what, command, flags, body, errors in WRONG:
        answer = netlink.ask(command, flags, body)
        check(answer.error in errors, what + ": error", answer.error)
        check(not answer.objects, what + ": is answered")
        # Of commands that there are not, there is nothing to be said.
        check(answer.said or answer.error == errno.EOPNOTSUPP, what + ": no reason is given")
    reserved = netlink.ask(BOARD_GET, DUMP, head=struct.pack("=BBH", BOARD_GET, 1, 7))
    check(reserved.error == errno.EINVAL, "a reserved field: error", reserved.error)


def be_random(netlink, requests):
    """Whatever comes of it, one answer comes.  Boards stay; some peers may be added."""
    chance = random.Random(20261126)
    kept = [attribute(kind, data) for kind, data in (
        (BOARD, 0), (IFNAME, "nowhere"), (MAC, MAC_TEXT), (NAME, "somebody"), (SCOPE, 3))]
    done = collections.Counter()
    for _ in range(requests):
        body = b""
        for _ in range(chance.randrange(5)):
            if chance.random() < 0.4:
                body += chance.choice(kept)
            else:
                body += attribute(chance.randrange(LAST + 3), os.urandom(chance.randrange(24)))
        if chance.random() < 0.2:
            body = body[:chance.randrange(len(body) + 1)]
        command = chance.choice((BOARD_GET, PEER_GET, ENDPOINT_GET, COUNTER_GET, BOARD_ATTACH,
                                 BOARD_DETACH, BOARD_SET, PEER_ADD, PEER_REMOVE, COUNTER_CLEAR,
                                 chance.randrange(256)))
        answer = netlink.ask(command, DUMP if command <= COUNTER_GET else 0, body)
        done[errno.errorcode.get(answer.error, answer.error)] += 1
    print("random requests:", dict(done))


def be_ordinary(netlink):
    for command in (BOARD_GET, PEER_GET, ENDPOINT_GET, COUNTER_GET):
        answer = netlink.ask(command, DUMP)
        check(not answer.error, "dump", command, "error", answer.error)
    check(netlink.ask(BOARD_GET, DUMP).objects, "no board is shown")
    for command, body in ((BOARD_ATTACH, attribute(IFNAME, "lo")),
                          (BOARD_DETACH, attribute(IFNAME, "eth0")),
                          (BOARD_SET, attribute(BOARD, 0) + attribute(NAME, "x")),
                          (PEER_ADD, attribute(BOARD, 0) + attribute(MAC, MAC_TEXT)),
                          (PEER_REMOVE, attribute(BOARD, 0) + attribute(MAC, MAC_TEXT)),
                          (COUNTER_CLEAR, attribute(BOARD, 0))):
        answer = netlink.ask(command, 0, body)
        check(answer.error == errno.EPERM, "change", command, "error", answer.error)


def count_peers(netlink, wanted):
    answer = netlink.ask(PEER_GET, DUMP)
    numbers = [struct.unpack("=I", peer[PEER])[0] for peer in answer.objects]
    static = [peer for peer in answer.objects if struct.unpack("=I", peer[FLAGS])[0] & 1]
    print(len(numbers), "peers in", answer.datagrams, "pieces")
    check(not answer.error, "error", answer.error)
    check(answer.datagrams > 2, "that was no dump of several pieces")
    check(len(set(numbers)) == len(numbers) and numbers == sorted(numbers), "one came twice")
    check(len(static) == wanted, len(static), "peers instead of", wanted)
    macs = {peer[MAC] for peer in static}
    check(len(macs) == wanted, "their MACs are not those of", wanted, "peers")


def main():
    netlink = Netlink()
    if sys.argv[1:] == ["--ordinary"]:
        be_ordinary(netlink)
    elif sys.argv[1:2] == ["--peers"]:
        count_peers(netlink, int(sys.argv[2]))
    else:
        be_wrong(netlink)
        be_random(netlink, 300)


if __name__ == "__main__":
    main()
