/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which receive takes which message: against a model that is too simple to
 * be wrong.
 */
#include "fixture.h"

static void masks(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t result;

	assert_int_equal(omx_irecv(pair->a, NULL, 0, 2, 1, NULL, &request), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_irecvv(pair->a, NULL, 0, 2, 1, NULL, &request), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_test_any(pair->a, 2, 1, NULL, &result), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_wait_any(pair->a, 2, 1, NULL, &result, 0), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_iprobe(pair->a, 2, 1, NULL, &result), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_probe(pair->a, 2, 1, NULL, &result, 0), OMX_BAD_MATCH_MASK);
}

/* ---- the model --------------------------------------------------------------- */

#define STEPS		20000
#define TAGS		6	/* few, so that they meet */

struct posted {
	uint64_t info, mask;
	omx_request_t request;
	uint32_t target;
};

struct sent {
	uint64_t info;
	uint32_t number;
};

struct model {
	struct posted posted[STEPS];
	struct sent sent[STEPS];
	uint32_t posted_count, sent_count, numbers;
	omx_request_t matched[STEPS];	/* receives that must be done, and with what */
	uint32_t expected[STEPS];
	uint32_t *target[STEPS];
	uint32_t matched_count;
};

static uint32_t targets[STEPS];

static void match(struct model *model, omx_request_t request, uint32_t target, uint32_t number)
{
	uint32_t i = model->matched_count++;

	model->matched[i] = request;
	model->expected[i] = number;
	model->target[i] = &targets[target];
}

static void model_send(struct model *model, uint64_t info, uint32_t number)
{
	for (uint32_t i = 0; i < model->posted_count; i++) {
		struct posted *posted = &model->posted[i];

		if ((info & posted->mask) != posted->info)
			continue;
		match(model, posted->request, posted->target, number);
		memmove(posted, posted + 1, (--model->posted_count - i) * sizeof(*posted));
		return;
	}
	model->sent[model->sent_count++] = (struct sent){ info, number };
}

static bool model_receive(struct model *model, uint64_t info, uint64_t mask,
			  omx_request_t request, uint32_t target)
{
	for (uint32_t i = 0; i < model->sent_count; i++) {
		struct sent *sent = &model->sent[i];

		if ((sent->info & mask) != info)
			continue;
		match(model, request, target, sent->number);
		memmove(sent, sent + 1, (--model->sent_count - i) * sizeof(*sent));
		return true;
	}
	model->posted[model->posted_count++] = (struct posted){ info, mask, request, target };
	return false;
}

static void model_probe(struct model *model, struct pair *pair, uint64_t info, uint64_t mask)
{
	omx_status_t status;
	uint32_t result, i;

	ok(omx_iprobe(pair->b, info, mask, &status, &result));
	for (i = 0; i < model->sent_count; i++) {
		if ((model->sent[i].info & mask) == info)
			break;
	}
	assert_int_equal(result, i < model->sent_count);
	if (result)
		assert_true(status.match_info == model->sent[i].info);
}

static void check_matched(struct model *model, struct pair *pair)
{
	for (uint32_t i = 0; i < model->matched_count; i++) {
		omx_status_t status;

		assert_true(done(pair->b, &model->matched[i], &status));
		assert_int_equal(status.code, OMX_SUCCESS);
		assert_int_equal(*model->target[i], model->expected[i]);
	}
	model->matched_count = 0;
}

/* A tag with its context id; a mask that (for receives) names the context id. */
static uint64_t random_info(uint64_t contexts)
{
	return (uint64_t)(rand() % TAGS) << 30 | ((uint64_t)rand() % contexts) << 8 |
	       (uint64_t)(rand() % 2);
}

static uint64_t random_mask(uint64_t context_mask)
{
	static const uint64_t masks[] = { ALL, ALL << 30, 1, 0, 0xffull << 30 };

	return masks[rand() % COUNT(masks)] | context_mask;
}

static void post_receive(struct model *model, struct pair *pair, uint64_t contexts,
			 uint64_t context_mask)
{
	uint64_t mask = random_mask(context_mask);
	uint64_t info = random_info(contexts) & mask;
	uint32_t target = model->numbers++;
	omx_request_t request;

	ok(omx_irecv(pair->b, &targets[target], sizeof(targets[0]), info, mask, NULL, &request));
	model_receive(model, info, mask, request, target);
}

static void send_number(struct model *model, struct pair *pair, uint64_t contexts)
{
	uint64_t info = random_info(contexts);
	uint32_t number = model->numbers++;

	ok(omx_isend(pair->a, &number, sizeof(number), pair->to_b, info, NULL, NULL));
	model_send(model, info, number);
	/* The library matches when it sees the message: keep both in step. */
	ok(omx_progress(pair->b));
}

static void cancel_receive(struct model *model, struct pair *pair)
{
	uint32_t i, result;

	if (!model->posted_count)
		return;
	i = (uint32_t)rand() % model->posted_count;
	ok(omx_cancel(pair->b, &model->posted[i].request, &result));
	assert_int_equal(result, 1);
	memmove(&model->posted[i], &model->posted[i + 1],
		(--model->posted_count - i) * sizeof(model->posted[i]));
}

static void run_model(struct pair *pair, uint64_t contexts, uint64_t context_mask)
{
	struct model *model = calloc(1, sizeof(*model));
	int bias = 50;

	for (int step = 0; step < STEPS; step++) {
		/* Long queues on one side, then on the other. */
		if (step % 1000 == 0)
			bias = 35 + rand() % 30;
		if (rand() % 100 < bias)
			post_receive(model, pair, contexts, context_mask);
		else
			send_number(model, pair, contexts);
		if (rand() % 20 == 0)
			cancel_receive(model, pair);
		if (rand() % 10 == 0) {
			uint64_t mask = random_mask(rand() % 2 ? context_mask : 0);

			model_probe(model, pair, random_info(contexts) & mask, mask);
		}
		check_matched(model, pair);
	}
	free(model);
}

static void against_a_model(void **state)
{
	run_model(*state, 1, 0);
}

/* ---- completed requests ------------------------------------------------------------ */

#define COMPLETED	1500

struct completed {
	uint64_t info;
	omx_request_t request;
	bool tested;
};

static struct completed *model_completed(struct completed *all, uint64_t info, uint64_t mask)
{
	for (uint32_t i = 0; i < COMPLETED; i++) {
		if (!all[i].tested && (all[i].info & mask) == info)
			return &all[i];
	}
	return NULL;
}

static void complete_many(struct pair *pair, struct completed *all)
{
	for (uint32_t i = 0; i < COMPLETED; i++) {
		all[i].info = random_info(8);
		ok(omx_irecv(pair->b, NULL, 0, all[i].info, ALL, &all[i], &all[i].request));
		ok(omx_isend(pair->a, NULL, 0, pair->to_b, all[i].info, NULL, NULL));
		ok(omx_progress(pair->b));
	}
}

/* omx_test_any returns the one that was completed first of those that match. */
static void completed_against_a_model(void **state)
{
	struct completed *all = calloc(COMPLETED, sizeof(*all));
	struct pair *pair = *state;
	uint32_t left = COMPLETED;

	complete_many(pair, all);
	while (left) {
		uint64_t mask = random_mask(rand() % 4 ? 0x700 : 0);
		uint64_t info = random_info(8) & mask;
		struct completed *expected = model_completed(all, info, mask);
		struct completed *other = &all[rand() % COMPLETED];
		omx_status_t status;
		uint32_t result;

		ok(omx_test_any(pair->b, info, mask, &status, &result));
		assert_int_equal(result, expected != NULL);
		if (expected) {
			assert_ptr_equal(status.context, expected);
			expected->tested = true;
			left--;
		}
		if (!other->tested) {
			assert_true(done(pair->b, &other->request, &status));
			assert_ptr_equal(status.context, other);
			other->tested = true;
			left--;
		}
	}
	free(all);
}

static omx_endpoint_param_t context_param(uint8_t bits, uint8_t shift)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_CONTEXT_ID };

	param.val.context_id.bits = bits;
	param.val.context_id.shift = shift;
	return param;
}

static void use_contexts(struct pair *pair, uint8_t bits, uint8_t shift)
{
	omx_endpoint_param_t param = context_param(bits, shift);

	pair->a = open_with(0, NULL, 0);
	pair->b = open_with(0, &param, 1);
	pair->to_b = connect_to(pair->a, pair->b);
}

static void contexts_against_a_model(void **state)
{
	use_contexts(*state, 3, 8);
	run_model(*state, 8, 0x700);
}

static void context_rules(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	use_contexts(pair, 4, 60);
	assert_int_equal(omx_irecv(pair->b, NULL, 0, 0, ALL >> 4, NULL, &request),
			 OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	assert_int_equal(omx_irecv(pair->b, NULL, 0, 0, ALL >> 1, NULL, &request),
			 OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);

	send_tag(pair->a, pair->to_b, 3ull << 60, 8);
	send_tag(pair->a, pair->to_b, 1ull << 60, 8);
	/* Arrival order over all context ids. */
	ok(omx_iprobe(pair->b, 0, 0, &status, &result));
	assert_true(result && status.match_info == 3ull << 60);

	ok(omx_irecv(pair->b, NULL, 0, 1ull << 60, 0xfull << 60, NULL, &request));
	ok(omx_test_any(pair->b, 3ull << 60, 0xfull << 60, &status, &result));
	assert_int_equal(result, 0);
	ok(omx_test_any(pair->b, 0, 0, &status, &result));
	assert_true(result && status.match_info == 1ull << 60);

	ok(omx_irecv(pair->b, NULL, 0, 3ull << 60, 0xfull << 60, NULL, &request));
	ok(omx_wait_any(pair->b, 3ull << 60, 0xfull << 60, &status, &result, 1000));
	assert_true(result && status.match_info == 3ull << 60);
}

static void context_params(void **state)
{
	static const struct { uint8_t bits, shift; omx_return_t ret; } cases[] = {
		{ 0, 0, OMX_SUCCESS }, { 16, 0, OMX_SUCCESS }, { 16, 48, OMX_SUCCESS },
		{ 1, 63, OMX_SUCCESS }, { 17, 0, OMX_ENDPOINT_PARAM_BAD_VALUE },
		{ 16, 49, OMX_ENDPOINT_PARAM_BAD_VALUE }, { 1, 64, OMX_ENDPOINT_PARAM_BAD_VALUE },
	};
	omx_endpoint_t ep;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		omx_endpoint_param_t param = context_param(cases[i].bits, cases[i].shift);

		assert_int_equal(omx_open_endpoint(0, OMX_ANY, KEY, &param, 1, &ep), cases[i].ret);
		if (!cases[i].ret)
			ok(omx_close_endpoint(ep));
	}
}

static void contexts_from_the_environment(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	ok(omx_finalize());
	setenv("OMX_CTXIDS", "2,4", 1);
	ok(omx_init());
	unsetenv("OMX_CTXIDS");
	pair->a = open_with(0, NULL, 0);
	assert_int_equal(omx_irecv(pair->a, NULL, 0, 0, 0, NULL, &request),
			 OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	ok(omx_irecv(pair->a, NULL, 0, 0x10, 0x30, NULL, &request));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(masks),
		pair_test(against_a_model),
		pair_test(completed_against_a_model),
		library_test(contexts_against_a_model),
		library_test(context_rules),
		library_test(context_params),
		library_test(contexts_from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
