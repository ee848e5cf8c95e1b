#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Python's subprocess in the middle of transfers: an interpreter talks to
itself through the library while it starts programs and reads what they say.

The mode is OMX_MEMORY's. usage: mem_python.py [PROGRAMS]
"""
import ctypes
import os
import subprocess
import sys
import threading

OMX_API = 0x301
ANY = 0xffffffff
EXACT = ctypes.c_uint64(2 ** 64 - 1)
LENGTH = 300001
KEY = 0x1234


class Addr(ctypes.Structure):
    _fields_ = [("opaque", ctypes.c_uint64 * 2)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("addr", Addr),
                ("match_info", ctypes.c_uint64), ("msg_length", ctypes.c_uint64),
                ("xfer_length", ctypes.c_uint64), ("context", ctypes.c_void_p)]


omx = ctypes.CDLL("libomx.so")


def must(ret, what):
    if ret:
        sys.exit("mem_python: %s returned %d" % (what, ret))


def open_endpoint():
    ep, nic, number = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint32()
    own, peer = Addr(), Addr()
    must(omx.omx__init_api(OMX_API), "omx_init")
    must(omx.omx_open_endpoint(ANY, ANY, KEY, None, 0, ctypes.byref(ep)), "open")
    must(omx.omx_get_endpoint_addr(ep, ctypes.byref(own)), "get_endpoint_addr")
    must(omx.omx_decompose_endpoint_addr(own, ctypes.byref(nic), ctypes.byref(number)),
         "decompose")
    must(omx.omx_connect(ep, nic, number, KEY, 10000, ctypes.byref(peer)), "connect")
    return ep, peer


def finish(ep, request, what):
    status, result = Status(), ctypes.c_uint32()
    must(omx.omx_wait(ep, ctypes.byref(request), ctypes.byref(status),
                      ctypes.byref(result), 60000), what)
    if not result.value or status.code:
        sys.exit("mem_python: %s: result %d, code %d" % (what, result.value, status.code))


def exchange(ep, peer, number):
    out = ctypes.create_string_buffer(bytes([number % 251]) * LENGTH, LENGTH)
    into = ctypes.create_string_buffer(LENGTH)
    send, recv = ctypes.c_void_p(), ctypes.c_void_p()
    match = ctypes.c_uint64(number)
    must(omx.omx_irecv(ep, into, ctypes.c_size_t(LENGTH), match, EXACT, None,
                       ctypes.byref(recv)), "irecv")
    must(omx.omx_isend(ep, out, ctypes.c_size_t(LENGTH), peer, match, None,
                       ctypes.byref(send)), "isend")
    finish(ep, recv, "receive")
    finish(ep, send, "send")
    if into.raw != out.raw:
        sys.exit("mem_python: message %d is damaged" % number)


def start_programs(count, over):
    for number in range(count):
        text = b"%d\n" % number * 1000
        if subprocess.run(["/bin/cat"], input=text, stdout=subprocess.PIPE,
                          check=True).stdout != text:
            os._exit(1)
        subprocess.run("test $((6 * 7)) = 42", shell=True, check=True)
    over.append(True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    ep, peer = open_endpoint()
    over = []
    thread = threading.Thread(target=start_programs, args=(count, over), daemon=True)
    thread.start()
    number = 0
    while thread.is_alive():
        number += 1
        exchange(ep, peer, number)
    if not over:
        sys.exit("mem_python: a program failed")
    print("mem_python: %d messages beside %d programs" % (number, 2 * count))
    must(omx.omx_close_endpoint(ep), "close")


main()
