/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omx_info --doctor: looks at everything that messages need, from the module to the way to
 * another host, and names a command for each fault.
 *
 * A check is a function that fills in a finding; doctor.c has the list of all checks, runs
 * them in its order, and prints what they find.  What one check learns is kept in struct
 * doctor for those behind it.  Checks that lack something which an earlier one found to be
 * wrong are skipped: one cause is one fault.
 */
#ifndef OMX_TOOLS_DOCTOR_H
#define OMX_TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "objects.h"

/* Exit statuses beside those of all tools. */
#define EXIT_FAULT	2

/* A board says hello every 5 s: who was not heard for longer is silent. */
#define HELLO_MS	6000

enum verdict { VERDICT_OK, VERDICT_WARNING, VERDICT_FAULT, VERDICT_SKIPPED };

/* `command` is for this host, or for another one that `host` names. */
struct remedy {
	char host[OMX_NAME_LEN];
	char command[384];
};

#define REMEDIES_MAX 4

struct finding {
	enum verdict verdict;
	char text[384];
	struct remedy remedy[REMEDIES_MAX];
	unsigned int remedies;
};

/* How far this host and the way to the other one are known to be in order. */
enum stage {
	STAGE_NONE,
	STAGE_MODULE,		/* is loaded */
	STAGE_DEVICE,		/* can be opened */
	STAGE_DRIVER,		/* can be asked */
	STAGE_BOARD,		/* there is one */
	STAGE_LINK,		/* one is up */
	STAGE_PEER,		/* the host is in the table of peers */
	STAGE_ANSWER,		/* and it answers */
};

/* The host that is to be reached. */
struct target {
	const char *name;	/* as the user has it; NULL: there is none */
	struct omx_ioc_udp_peer address;	/* that the name stands for: MAC, IP, or neither */
	uint64_t neighbour;	/* MAC of the IP address, if it is on a board's segment, or 0 */
	bool listened;		/* whether it was waited for; then: */
	bool known;
	bool heard;		/* frames come from it */
	bool answers;		/* and ours arrive there */
	uint32_t peer_abi;	/* of its answer: what its driver speaks; see struct omx_event */
	struct omx_ioc_udp_peer peer;		/* if it is known */
	const struct omx_ioc_board *board;	/* through which */
};

struct doctor {
	uint32_t only;		/* board that the user has chosen, or OMX_ANY */
	enum stage stage;
	bool blocked;		/* a firewall of this host is in the way */
	struct omx_ioc_info driver;	/* from STAGE_DEVICE on */
	struct netlink *netlink;	/* open from STAGE_DRIVER on */
	struct board_list boards;	/* from STAGE_BOARD on */
	struct target target;
};

/* Prints the report.  Returns the exit status.  `host` may be NULL. */
int doctor_run(const char *host, uint32_t board, bool json);

/* ---- findings ---- */

void finding_say(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a command, for `host` if that is not NULL. */
void finding_mend(struct finding *finding, const char *host, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A name for a command: names of interfaces and hosts may contain what a shell executes, and
 * not only the administrator chooses them.  Then `otherwise` stands for it.
 */
const char *shell_word(const char *name, const char *otherwise);

/* ---- checks, in their order ---- */

void check_module(struct doctor *doctor, struct finding *finding);
void check_device(struct doctor *doctor, struct finding *finding);
void check_abi(struct doctor *doctor, struct finding *finding);
void check_library(struct doctor *doctor, struct finding *finding);
void check_component(struct doctor *doctor, struct finding *finding);
void check_board(struct doctor *doctor, struct finding *finding);
void check_link(struct doctor *doctor, struct finding *finding);
void check_firewall(struct doctor *doctor, struct finding *finding);
/* Only if there is a host to be reached. */
void check_peer(struct doctor *doctor, struct finding *finding);
void check_hello(struct doctor *doctor, struct finding *finding);
void check_protocol(struct doctor *doctor, struct finding *finding);
void check_mtu(struct doctor *doctor, struct finding *finding);

/* ---- what several of them use ---- */

/* Was this tool built for packages of the distribution?  Else from sources. */
bool from_packages(void);
/* Copies the first line that the command prints; false: it prints none. */
bool first_line(const char *command, char *line, int size);

/* Fills in target->address. */
void target_resolve(struct target *target);
/* Looks for the host among the peers; false: it is not there. */
bool target_find(struct doctor *doctor);
/*
 * Waits until the host is heard and answers, for as long as its next hello may take.
 * Further calls return at once.
 */
void target_listen(struct doctor *doctor);
/* By UDP, or, if it is not known, would it be? */
bool target_is_by_udp(const struct target *target);
/* How commands for the other host call it, and how they call this one there. */
const char *target_label(const struct target *target);
const char *own_label(const struct doctor *doctor);
/* Have frames come from any other host lately? */
bool any_peer_heard(const struct doctor *doctor);

/*
 * Asks the driver at that MAC to connect to an endpoint that nobody can have open.  True:
 * it has responded, and `peer_abi` is what it speaks, as in struct omx_event.
 */
bool probe_answers(const struct omx_ioc_board *board, uint64_t mac, uint32_t *peer_abi);

uint64_t clock_ms(void);
void sleep_ms(unsigned int ms);

#endif
