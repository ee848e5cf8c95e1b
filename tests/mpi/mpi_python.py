#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""mpi4py: pickled objects and plain buffers around a ring."""

import array
import random

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % ranks, (rank - 1) % ranks


def thing(who, size):
    source = random.Random(who * 1000 + size)
    return {"from": who, "bytes": source.randbytes(size), "nested": [None, (1, "two", 3.0)]}


def objects():
    for size in (0, 100, 40000, 1000000):
        got = world.sendrecv(thing(rank, size), dest=right, source=left)
        assert got == thing(left, size), (rank, size)
    assert world.allgather(thing(rank, 50)) == [thing(i, 50) for i in range(ranks)]
    assert world.bcast(thing(0, 5000) if rank == 0 else None) == thing(0, 5000)


def buffers():
    for count in (0, 1, 1000, 300000):
        out = array.array("d", (rank + i for i in range(count)))
        got = array.array("d", bytes(8 * count))
        request = world.Isend(out, dest=right, tag=count)
        status = MPI.Status()
        world.Recv(got, source=MPI.ANY_SOURCE, tag=count, status=status)
        request.Wait()
        assert status.Get_source() == left and status.Get_count(MPI.DOUBLE) == count
        assert got == array.array("d", (left + i for i in range(count))), (rank, count)


def sums():
    got = array.array("q", [0] * 1000)
    world.Allreduce(array.array("q", range(rank, rank + 1000)), got)
    expected = ranks * (ranks - 1) // 2
    assert got == array.array("q", (i * ranks + expected for i in range(1000)))


objects()
buffers()
sums()
world.Barrier()
if rank == 0:
    print(f"mpi4py: objects and buffers went around {ranks} ranks")
