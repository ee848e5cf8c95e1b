// SPDX-License-Identifier: BSD-2-Clause
/* The search for the path MTU, over paths that take any length. */
#include "test.h"

#include "net/path_mtu.c"

#define BASE	1500
#define BUDGET	200	/* probes; a search that needs more does not end */

/* Runs the search until it ends, over a path that takes frames up to `mtu`. */
static unsigned int search(struct omx_path_mtu *path, u32 target, u32 mtu)
{
	unsigned int sent = 0;
	u32 length;

	while ((length = omx_path_mtu_next(path, BASE, target, true))) {
		assert_true(length > BASE && length <= target);
		assert_true(++sent < BUDGET);
		if (length <= mtu)
			omx_path_mtu_answered(path, length);
		/* What is used has been proved, always. */
		assert_true(omx_path_mtu_limit(path, BASE) <= (mtu > BASE ? mtu : BASE));
	}
	return sent;
}

static void path_mtu__one_probe_where_all_passes(void **state)
{
	struct omx_path_mtu path = { 0 };

	(void)state;
	assert_int_equal(omx_path_mtu_limit(&path, BASE), BASE);
	assert_int_equal(search(&path, 9000, 9000), 1);
	assert_int_equal(omx_path_mtu_limit(&path, BASE), 9000);
	assert_int_equal(search(&path, 9000, 9000), 0);
}

static void path_mtu__finds_every_length(void **state)
{
	u32 mtu;

	(void)state;
	for (mtu = BASE; mtu <= 9000; mtu++) {
		struct omx_path_mtu path = { 0 };

		search(&path, 9000, mtu);
		assert_true(omx_path_mtu_limit(&path, BASE) + OMX_MTU_PRECISION >= mtu);
	}
}

static void path_mtu__no_more_than_the_base_needs_no_probe(void **state)
{
	struct omx_path_mtu path = { 0 };

	(void)state;
	assert_int_equal(search(&path, BASE, 9000), 0);
	assert_int_equal(search(&path, 576, 9000), 0);
}

/* A peer that is not there, or a link that is down, proves nothing. */
static void path_mtu__silence_is_no_failure(void **state)
{
	struct omx_path_mtu path = { 0 };
	int i;

	(void)state;
	search(&path, 9000, 9000);
	omx_path_mtu_doubt(&path, BASE);
	for (i = 0; i < 50; i++)
		assert_int_equal(omx_path_mtu_next(&path, BASE, 9000, false), 9000);
	assert_int_equal(omx_path_mtu_limit(&path, BASE), 9000);
	assert_false(omx_path_mtu_answered(&path, 9000));
	assert_int_equal(omx_path_mtu_next(&path, BASE, 9000, true), 0);
}

static void path_mtu__narrower_and_wider_again(void **state)
{
	struct omx_path_mtu path = { 0 };
	u32 length;
	int i;

	(void)state;
	search(&path, 9000, 9000);
	omx_path_mtu_doubt(&path, BASE);
	for (i = 0; i < OMX_MTU_PROBES; i++)
		assert_int_equal(omx_path_mtu_next(&path, BASE, 9000, true), 9000);
	length = omx_path_mtu_next(&path, BASE, 9000, true);
	assert_true(length < 9000);
	assert_int_equal(omx_path_mtu_limit(&path, BASE), BASE);
	search(&path, 9000, 4000);
	assert_true(omx_path_mtu_limit(&path, BASE) + OMX_MTU_PRECISION >= 4000);

	/* hello.c tries again later. */
	path.failed = 0;
	assert_int_equal(search(&path, 9000, 9000), 1);
	assert_int_equal(omx_path_mtu_limit(&path, BASE), 9000);
}

static void path_mtu__another_target_is_another_search(void **state)
{
	struct omx_path_mtu path = { 0 };

	(void)state;
	search(&path, 9000, 2000);
	assert_int_equal(omx_path_mtu_next(&path, BASE, 4000, true), 4000);
	assert_true(omx_path_mtu_answered(&path, 4000));
	assert_int_equal(omx_path_mtu_next(&path, BASE, 4000, true), 0);
}

static void path_mtu__late_answers_count(void **state)
{
	struct omx_path_mtu path = { 0 };
	int i;

	(void)state;
	for (i = 0; i <= OMX_MTU_PROBES; i++)
		omx_path_mtu_next(&path, BASE, 9000, true);
	assert_true(path.probe < 9000);
	assert_true(omx_path_mtu_answered(&path, 9000));
	assert_int_equal(omx_path_mtu_limit(&path, BASE), 9000);
	assert_int_equal(omx_path_mtu_next(&path, BASE, 9000, true), 0);
	assert_false(omx_path_mtu_answered(&path, 5000));
}

/* Frames and pages for each byte that frames carry. */
static double cost_of_byte(u32 mtu)
{
	return (1 + DIV_ROUND_UP(mtu + 22, 4096)) / (double)mtu;
}

static void path_mtu__frames_fill_pages(void **state)
{
	u32 mtu;

	(void)state;
	assert_int_equal(omx_path_mtu_in_pages(9000), 8192 - 22);
	assert_int_equal(omx_path_mtu_in_pages(4500), 4096 - 22);
	/* What fits already, and where a part of another page carries enough. */
	assert_int_equal(omx_path_mtu_in_pages(1500), 1500);
	assert_int_equal(omx_path_mtu_in_pages(4096 - 22), 4096 - 22);
	assert_int_equal(omx_path_mtu_in_pages(8192 - 22), 8192 - 22);
	assert_int_equal(omx_path_mtu_in_pages(16000), 16000);
	for (mtu = 576; mtu <= 65535; mtu++) {
		u32 used = omx_path_mtu_in_pages(mtu);

		assert_true(used <= mtu && used > mtu / 2);
		assert_true(used == mtu || (used + 22) % 4096 == 0);
		assert_true(cost_of_byte(used) <= cost_of_byte(mtu) * 1.01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_mtu__one_probe_where_all_passes),
		cmocka_unit_test(path_mtu__finds_every_length),
		cmocka_unit_test(path_mtu__no_more_than_the_base_needs_no_probe),
		cmocka_unit_test(path_mtu__silence_is_no_failure),
		cmocka_unit_test(path_mtu__narrower_and_wider_again),
		cmocka_unit_test(path_mtu__another_target_is_another_search),
		cmocka_unit_test(path_mtu__late_answers_count),
		cmocka_unit_test(path_mtu__frames_fill_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
