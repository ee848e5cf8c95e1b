/* SPDX-License-Identifier: BSD-2-Clause */
/* What mpi_semantics consists of: all ranks call each of these. */
#ifndef TESTS_MPI_SEMANTICS_H
#define TESTS_MPI_SEMANTICS_H

#define FOR_EACH_TEST(test) \
	test(matching) \
	test(modes) \
	test(persistent) \
	test(probe) \
	test(mprobe) \
	test(status) \
	test(cancel) \
	test(truncate) \
	test(order) \
	test(self) \
	test(nobody) \
	test(datatypes) \
	test(complete) \
	test(outstanding) \
	test(communicators) \
	test(intercommunicator) \
	test(collectives)

#define DECLARE_TEST(name) void test_##name(void);
FOR_EACH_TEST(DECLARE_TEST)
#undef DECLARE_TEST

#endif
