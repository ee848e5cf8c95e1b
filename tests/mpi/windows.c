// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_windows: one-sided communication with all kinds of windows and of
 * synchronization.  What carries it is Open MPI's choice (--mca osc).
 * --mode threads: with MPI_THREAD_MULTIPLE.  --mode one: only with the kind of
 * window that all components support.
 */
#include "windows.h"

#include <stdlib.h>
#include <string.h>

int64_t *memory;
MPI_Win window;

static MPI_Aint *bases;		/* of all ranks, if the window is dynamic; else NULL */

MPI_Aint displacement_of(int target, size_t element)
{
	return bases ? MPI_Aint_add(bases[target], element * sizeof(*memory)) :
		       (MPI_Aint)element;
}

void clear_window(void)
{
	MUST(MPI_Barrier(world));
	memset(memory, 0, ELEMENTS * ranks * sizeof(*memory));
	MUST(MPI_Barrier(world));
}

static int64_t window_value(int from, int to, int i)
{
	return ((int64_t)from * 1000 + to) * ELEMENTS + i;
}

static void put_all(int to, int64_t *out)
{
	int i;

	for (i = 0; i < ELEMENTS; i++)
		out[i] = window_value(rank, to, i);
	MUST(MPI_Put(out, ELEMENTS, MPI_INT64_T, to, displacement_of(to, rank * ELEMENTS),
		     ELEMENTS, MPI_INT64_T, window));
}

static void check_from(int from)
{
	int i;

	for (i = 0; i < ELEMENTS; i++)
		EQUAL(memory[from * ELEMENTS + i], window_value(from, rank, i));
}

void check_fences(void)
{
	int64_t *out = allocate(ranks * ELEMENTS * sizeof(*out));
	int64_t *in = allocate(ELEMENTS * sizeof(*in));
	int right = (rank + 1) % ranks, i;

	clear_window();
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ranks; i++)
		put_all(i, out + (size_t)i * ELEMENTS);
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ranks; i++)
		check_from(i);
	MUST(MPI_Get(in, ELEMENTS, MPI_INT64_T, right, displacement_of(right, 0), ELEMENTS,
		     MPI_INT64_T, window));
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ELEMENTS; i++)
		EQUAL(in[i], window_value(0, right, i));
	free(out);
	free(in);
}

static void count_under_lock(int target)
{
	int64_t one = 1, before;

	MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window));
	MUST(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, displacement_of(target, 0),
			      MPI_SUM, window));
	MUST(MPI_Win_unlock(target, window));
	CHECK(before >= 0 && before < 20 * ranks);
}

void check_locks(void)
{
	int64_t *out = allocate(ELEMENTS * sizeof(*out));
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, i;

	clear_window();
	for (i = 0; i < 20; i++)
		count_under_lock(0);
	MUST(MPI_Barrier(world));
	if (!rank) {
		MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
		EQUAL(memory[0], 20 * ranks);
		MUST(MPI_Win_unlock(0, window));
	}
	clear_window();
	MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window));
	put_all(right, out);
	MUST(MPI_Win_unlock(right, window));
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
	check_from(left);
	MUST(MPI_Win_unlock(rank, window));
	free(out);
}

/* Every second word, there and back. */
static void put_with_gaps(int target)
{
	enum { WORDS = 300 };
	int64_t out[2 * WORDS], in[2 * WORDS];
	MPI_Datatype gaps;
	int i;

	for (i = 0; i < 2 * WORDS; i++) {
		out[i] = i + 1;
		in[i] = -1;
	}
	MUST(MPI_Type_vector(WORDS, 1, 2, MPI_INT64_T, &gaps));
	MUST(MPI_Type_commit(&gaps));
	MUST(MPI_Put(out, 1, gaps, target, displacement_of(target, rank * ELEMENTS), 1, gaps,
		     window));
	MUST(MPI_Win_flush(target, window));
	MUST(MPI_Get(in, 2 * WORDS, MPI_INT64_T, target, displacement_of(target, rank * ELEMENTS),
		     2 * WORDS, MPI_INT64_T, window));
	MUST(MPI_Win_flush(target, window));
	for (i = 0; i < 2 * WORDS; i++)
		EQUAL(in[i], i % 2 ? 0 : i + 1);
	MUST(MPI_Type_free(&gaps));
}

static void put_with_request(int target)
{
	int64_t out = rank + 77, in = 0;
	MPI_Request request;

	MUST(MPI_Rput(&out, 1, MPI_INT64_T, target, displacement_of(target, rank * ELEMENTS), 1,
		      MPI_INT64_T, window, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
	MUST(MPI_Win_flush_all(window));
	MUST(MPI_Rget(&in, 1, MPI_INT64_T, target, displacement_of(target, rank * ELEMENTS), 1,
		      MPI_INT64_T, window, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
	EQUAL(in, out);
}

void check_all_locks(void)
{
	int64_t *out = allocate(ELEMENTS * sizeof(*out));
	int i;

	clear_window();
	MUST(MPI_Win_lock_all(0, window));
	for (i = 0; i < ranks; i++) {
		put_with_gaps(i);
		put_with_request(i);
		put_all(i, out);
		MUST(MPI_Win_flush_local(i, window));
	}
	MUST(MPI_Win_flush_all(window));
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_sync(window));
	for (i = 0; i < ranks; i++)
		check_from(i);
	MUST(MPI_Win_unlock_all(window));
	free(out);
}

/*
 * Each rank exposes its window to its left neighbour and accesses that of its
 * right one.
 */
void check_posts(void)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	int64_t *out = allocate(ELEMENTS * sizeof(*out));
	MPI_Group all, from, to;

	clear_window();
	MUST(MPI_Comm_group(world, &all));
	MUST(MPI_Group_incl(all, 1, &left, &from));
	MUST(MPI_Group_incl(all, 1, &right, &to));
	MUST(MPI_Win_post(from, 0, window));
	MUST(MPI_Win_start(to, 0, window));
	put_all(right, out);
	MUST(MPI_Win_complete(window));
	MUST(MPI_Win_wait(window));
	check_from(left);
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	free(out);
}

/* ---- kinds of windows ------------------------------------------------------------- */

static size_t window_size(void)
{
	return (size_t)ranks * ELEMENTS * sizeof(*memory);
}

static void create_window(void)
{
	memory = allocate(window_size());
	MUST(MPI_Win_create(memory, window_size(), sizeof(*memory), MPI_INFO_NULL, world,
			    &window));
}

static void allocate_window(void)
{
	MUST(MPI_Win_allocate(window_size(), sizeof(*memory), MPI_INFO_NULL, world, &memory,
			      &window));
}

static void attach_window(void)
{
	MPI_Aint base;

	memory = allocate(window_size());
	bases = allocate(ranks * sizeof(*bases));
	MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window));
	MUST(MPI_Win_attach(window, memory, window_size()));
	MUST(MPI_Get_address(memory, &base));
	MUST(MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, world));
}

static void free_created(void)
{
	MUST(MPI_Win_free(&window));
	free(memory);
}

static void free_allocated(void)
{
	MUST(MPI_Win_free(&window));
}

static void free_attached(void)
{
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_detach(window, memory));
	MUST(MPI_Win_free(&window));
	free(memory);
	free(bases);
	bases = NULL;
}

/* Up to 4.1.4, osc/rdma takes a lock of the target twice, and waits for itself. */
static bool dynamic_hangs(void)
{
	const char *component = getenv("OMPI_MCA_osc");

	return OMPI_MAJOR_VERSION * 10000 + OMPI_MINOR_VERSION * 100 + OMPI_RELEASE_VERSION <
		40105 && !(component && !strcmp(component, "pt2pt"));
}

static const struct {
	const char *name;
	void (*begin)(void), (*end)(void);
} kinds[] = {
	{ "created", create_window, free_created },
	{ "allocated", allocate_window, free_allocated },
	{ "dynamic", attach_window, free_attached },	/* last */
};

static const struct {
	const char *name;
	void (*test)(void);
} parts[] = {
	{ "fence", check_fences },
	{ "lock", check_locks },
	{ "lock all", check_all_locks },
	{ "post and start", check_posts },
	{ "sums", check_sums },
	{ "operations", check_operations },
	{ "fetch and add", check_fetches },
	{ "compare and swap", check_swaps },
	{ "threads", check_threads },
};

static void run_parts(const char *kind, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		name_test(parts[i].name);
		parts[i].test();
		MUST(MPI_Barrier(world));
		say("%-10s %-18s ok", kind, parts[i].name);
	}
	name_test("");
}

static bool mode_is(const char *mode)
{
	return options.mode && !strcmp(options.mode, mode);
}

int main(int argc, char **argv)
{
	int provided, count = sizeof(parts) / sizeof(*parts);
	size_t kind_count = sizeof(kinds) / sizeof(*kinds), i;

	read_options(argc, argv);
	MPI_Init_thread(&argc, &argv, mode_is("threads") ? MPI_THREAD_MULTIPLE :
			MPI_THREAD_SINGLE, &provided);
	start();
	if (!mode_is("threads"))
		count--;
	if (dynamic_hangs())
		kind_count--;
	for (i = 0; i < kind_count; i++) {
		kinds[i].begin();
		MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
		run_parts(kinds[i].name, count);
		kinds[i].end();
		if (mode_is("one"))
			break;
	}
	return finish();
}
