/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What omx_info --doctor asks of the netlink family, over a kernel that is made up: each
 * function names the case.
 */
#include <errno.h>
#include <string.h>

#include "complain.h"
#include "doctor/doctor.h"
#include "expect.h"
#include "fake_netlink.h"

#define BOARDS 2

static struct netlink netlink;

/* What the kernel has. */
static struct {
	int no_family;			/* -errno of looking for it */
	unsigned int boards;
	uint64_t other_versions;	/* frames on each board */
	uint32_t peer_age;		/* ms */
} kernel;

/* ---- parts that are not tested here ---- */

bool from_packages(void)
{
	return true;
}

bool probe_answers(const struct omx_ioc_board *board, uint64_t mac, uint32_t *peer_abi)
{
	EXPECT(board && mac && peer_abi);
	return false;
}

/* ---- the kernel ---- */

bool fake_is_wanted(void)
{
	return true;
}

static void answer_controller(const struct netlink_request *request)
{
	const char *name = request->attributes + NLA_HDRLEN;
	uint32_t sequence = request->head.nlmsg_seq;

	if (strcmp(name, OMX_NETLINK_FAMILY))
		fake_families(sequence, GENL_ID_CTRL, "notify", FAKE_CONTROLLER_GROUP);
	else if (kernel.no_family)
		fake_result(fake_datagram(), sequence, kernel.no_family, NLM_F_CAPPED, NULL);
	else
		fake_families(sequence, FAKE_FAMILY, "events", FAKE_EVENTS_GROUP);
}

static void put_board(struct datagram *datagram, uint32_t board)
{
	(void)board;
	fake_put_text(datagram, OMX_A_IFNAME, "eth0");
	fake_put_text(datagram, OMX_A_NAME, "node1:0");
	fake_put_u32(datagram, OMX_A_FLAGS, OMX_BOARD_UP);
}

static void put_local_peer(struct datagram *datagram, uint32_t board)
{
	(void)board;
	fake_put_u32(datagram, OMX_A_FLAGS, OMX_PEER_LOCAL);
	fake_put_u32(datagram, OMX_A_MTU, 1500);
}

static void put_peer(struct datagram *datagram, uint32_t board)
{
	fake_put_u32(datagram, OMX_A_PEER, 1);
	fake_put_u32(datagram, OMX_A_FLAGS, OMX_PEER_NAMED);
	fake_put_text(datagram, OMX_A_NAME, board ? "node2:1" : "node3:0");
	fake_put_u32(datagram, OMX_A_MTU, 1500);
	fake_put_u32(datagram, OMX_A_AGE, kernel.peer_age);
}

static void put_counter(struct datagram *datagram, uint32_t board)
{
	const uint64_t many = 1000;

	(void)board;
	fake_put_u32(datagram, OMX_A_COUNTER, 0);
	fake_put_text(datagram, OMX_A_LABEL, "dropped: other");
	fake_put(datagram, OMX_A_VALUE, &many, sizeof(many));
}

static void put_other_versions(struct datagram *datagram, uint32_t board)
{
	(void)board;
	fake_put_u32(datagram, OMX_A_COUNTER, 1);
	fake_put_text(datagram, OMX_A_LABEL, "dropped: other protocol version");
	fake_put(datagram, OMX_A_VALUE, &kernel.other_versions, sizeof(uint64_t));
}

static void put_object(const struct netlink_request *request, uint32_t board,
		       void (*put)(struct datagram *datagram, uint32_t board))
{
	struct datagram *datagram = fake_datagram();
	size_t at = fake_begin_generic(datagram, FAKE_FAMILY, request->head.nlmsg_seq,
				       request->generic.cmd);

	fake_put_u32(datagram, OMX_A_BOARD, board);
	put(datagram, board);
	fake_end(datagram, at);
}

static void put_objects_of(const struct netlink_request *request, uint32_t board)
{
	switch (request->generic.cmd) {
	case OMX_CMD_BOARD_GET:
		put_object(request, board, put_board);
		break;
	case OMX_CMD_PEER_GET:
		put_object(request, board, put_local_peer);
		put_object(request, board, put_peer);
		break;
	case OMX_CMD_COUNTER_GET:
		put_object(request, board, put_counter);
		put_object(request, board, put_other_versions);
		break;
	default:
		EXPECT(!"a command of the doctor");
	}
}

void fake_requested(const struct netlink_request *request)
{
	const struct nlattr *only = (const struct nlattr *)request->attributes;
	bool is_of_one = request->head.nlmsg_len > NLMSG_LENGTH(GENL_HDRLEN);
	uint32_t board;

	fake_reset();
	if (request->head.nlmsg_type == GENL_ID_CTRL) {
		answer_controller(request);
		return;
	}
	for (board = 0; board < kernel.boards; board++)
		if (!is_of_one || attribute_u32(only) == board)
			put_objects_of(request, board);
	if (is_of_one && attribute_u32(only) >= kernel.boards)
		fake_result(fake_datagram(), request->head.nlmsg_seq, -ENODEV, NLM_F_CAPPED, NULL);
	else
		fake_done(fake_datagram(), request->head.nlmsg_seq, 0);
}

/* ---- the cases ---- */

static struct doctor new_doctor(enum stage stage)
{
	kernel.no_family = 0;
	kernel.boards = BOARDS;
	kernel.other_versions = 0;
	kernel.peer_age = 1000;
	return (struct doctor){
		.only = OMX_ANY,
		.stage = stage,
		.driver = { .abi_version = OMX_ABI_VERSION, .version = "0.0.9" },
		.netlink = &netlink,
	};
}

/* With netlink and the boards as the checks before have left them. */
static struct doctor new_doctor_with_boards(void)
{
	struct doctor doctor = new_doctor(STAGE_DEVICE);
	struct finding finding = { 0 };

	check_abi(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_OK && doctor.stage == STAGE_DRIVER);
	check_board(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_OK && doctor.stage == STAGE_BOARD);
	EXPECT(doctor.boards.count == BOARDS && strstr(finding.text, "node1:0 (eth0)"));
	doctor.stage = STAGE_LINK;
	return doctor;
}

static void abi__a_driver_without_the_family_is_too_old(void)
{
	struct doctor doctor = new_doctor(STAGE_DEVICE);
	struct finding finding = { 0 };

	kernel.no_family = -ENOENT;
	check_abi(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_FAULT && doctor.stage == STAGE_DEVICE);
	EXPECT(strstr(finding.text, "omx 0.0.9) has no netlink family"));
	EXPECT(finding.remedies == 1);
	EXPECT(strstr(finding.remedy[0].command, " && modprobe -r omx && modprobe omx"));
}

static void abi__netlink_may_be_forbidden(void)
{
	struct doctor doctor = new_doctor(STAGE_DEVICE);
	struct finding finding = { 0 };

	kernel.no_family = -EPERM;
	check_abi(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_FAULT && doctor.stage == STAGE_DEVICE);
	EXPECT(strstr(finding.text, strerror(EPERM)) && finding.remedies == 1);
}

static void board__there_may_be_none(void)
{
	struct doctor doctor = new_doctor_with_boards();
	struct finding finding = { 0 };

	kernel.boards = 0;
	doctor.stage = STAGE_DRIVER;
	check_board(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_FAULT && doctor.stage == STAGE_DRIVER);
	EXPECT(!strcmp(finding.text, "no interface is a board") && finding.remedies == 1);
	EXPECT(strstr(finding.remedy[0].command, "omx_boards attach "));
	netlink_close(&netlink);
}

static void board__the_one_that_is_chosen(void)
{
	struct doctor doctor = new_doctor_with_boards();
	struct finding finding = { 0 };

	doctor.only = 1;
	check_board(&doctor, &finding);
	EXPECT(doctor.boards.count == 1 && doctor.boards.board[0].board == 1);
	doctor.only = BOARDS;
	check_board(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_FAULT && strstr(finding.text, "no board 2"));
	complain_forget();
	netlink_close(&netlink);
}

static void peers__are_found_on_any_board(void)
{
	struct doctor doctor = new_doctor_with_boards();

	doctor.target.name = "node2";
	EXPECT(target_find(&doctor));
	EXPECT(doctor.target.board == &doctor.boards.board[1] && doctor.target.heard);
	doctor.target.name = "node";
	EXPECT(!target_find(&doctor) && !doctor.target.heard);
	netlink_close(&netlink);
}

static void peers__are_heard_for_a_while(void)
{
	struct doctor doctor = new_doctor_with_boards();

	EXPECT(any_peer_heard(&doctor));
	kernel.peer_age = HELLO_MS + 1;
	EXPECT(!any_peer_heard(&doctor));
	netlink_close(&netlink);
}

static void protocol__other_versions_are_counted_on_all_boards(void)
{
	struct doctor doctor = new_doctor_with_boards();
	struct finding finding = { 0 };

	doctor.target.name = "node2";
	check_protocol(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_SKIPPED);
	kernel.other_versions = 3;
	check_protocol(&doctor, &finding);
	EXPECT(finding.verdict == VERDICT_FAULT && !strncmp(finding.text, "6 frames ", 9));
	doctor.only = 1;
	check_protocol(&doctor, &finding);
	EXPECT(!strncmp(finding.text, "3 frames ", 9));
	netlink_close(&netlink);
}

int main(void)
{
	abi__a_driver_without_the_family_is_too_old();
	abi__netlink_may_be_forbidden();
	board__there_may_be_none();
	board__the_one_that_is_chosen();
	peers__are_found_on_any_board();
	peers__are_heard_for_a_while();
	protocol__other_versions_are_counted_on_all_boards();
	return 0;
}
