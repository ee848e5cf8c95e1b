/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates the rules of nftables, which iptables, firewalld and ufw write as well, for one
 * kind of packet.  What a rule asks for and we do not know is taken for possible: this is
 * asked only when packets are lost, to find out which rule may be why.
 */
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doctor/doctor.h"
#include "doctor/ruleset.h"

#define DEPTH_MAX 16		/* of chains that jump to chains, as in the kernel */

enum match { MATCH_NO, MATCH_PERHAPS, MATCH_YES };
enum fate { FATE_GOES_ON, FATE_PASSES, FATE_DROPS };

struct ruleset {
	struct json_object *entries;
	const struct packet *packet;
};

/* ---- JSON ---- */

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, name, &value);
	return value;
}

static const char *string_member(struct json_object *object, const char *name)
{
	struct json_object *value = member(object, name);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static bool member_is(struct json_object *object, const char *name, const char *text)
{
	return strcmp(string_member(object, name), text) == 0;
}

static size_t length_of(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

/* ---- values ---- */

/* What the packet has in a field: a number, and its name if there is one. */
struct value {
	unsigned int number;
	const char *name;
};

static enum match match_value(struct json_object *wanted, const struct value *value);

static enum match match_any(struct json_object *array, const struct value *value)
{
	enum match best = MATCH_NO;
	size_t i;

	for (i = 0; i < length_of(array); i++) {
		enum match match = match_value(json_object_array_get_idx(array, i), value);

		if (match > best)
			best = match;
	}
	return best;
}

static enum match match_text(const char *wanted, const struct value *value)
{
	size_t length = strlen(wanted);
	unsigned long number;
	char *end;

	if (*wanted == '@')	/* a named set */
		return MATCH_PERHAPS;
	if (value->name && !strcmp(wanted, value->name))
		return MATCH_YES;
	if (value->name && length && wanted[length - 1] == '*')
		return strncmp(wanted, value->name, length - 1) ? MATCH_NO : MATCH_YES;
	number = strtoul(wanted, &end, 0);
	return length && !*end && value->number && number == value->number ? MATCH_YES : MATCH_NO;
}

static enum match match_object(struct json_object *wanted, const struct value *value)
{
	struct json_object *range = member(wanted, "range"), *set = member(wanted, "set");
	struct json_object *element = member(wanted, "elem");
	unsigned int first, last;

	if (set)
		return json_object_is_type(set, json_type_array) ? match_any(set, value) :
								   match_value(set, value);
	if (element)
		return match_value(member(element, "val"), value);
	if (length_of(range) != 2)
		return MATCH_PERHAPS;
	first = json_object_get_int64(json_object_array_get_idx(range, 0));
	last = json_object_get_int64(json_object_array_get_idx(range, 1));
	return value->number >= first && value->number <= last ? MATCH_YES : MATCH_NO;
}

static enum match match_value(struct json_object *wanted, const struct value *value)
{
	switch (json_object_get_type(wanted)) {
	case json_type_int:
		return json_object_get_int64(wanted) == value->number ? MATCH_YES : MATCH_NO;
	case json_type_string:
		return match_text(json_object_get_string(wanted), value);
	case json_type_array:
		return match_any(wanted, value);
	case json_type_object:
		return match_object(wanted, value);
	default:
		return MATCH_PERHAPS;
	}
}

/* ---- fields ---- */

static enum match match_port(const char *field, struct json_object *wanted,
			     const struct packet *packet)
{
	const struct value port = { .number = packet->port };

	if (!packet->udp)
		return MATCH_NO;
	return strcmp(field, "dport") ? MATCH_PERHAPS : match_value(wanted, &port);
}

static enum match match_ethertype(struct json_object *wanted, const struct packet *packet)
{
	const struct value frame = { .number = packet->ethertype };
	const struct value ip = { .number = packet->v6 ? 0x86dd : 0x0800,
				  .name = packet->v6 ? "ip6" : "ip" };

	return match_value(wanted, packet->udp ? &ip : &frame);
}

static enum match match_transport(struct json_object *wanted, const struct packet *packet)
{
	const struct value udp = { .number = 17, .name = "udp" };

	return packet->udp ? match_value(wanted, &udp) : MATCH_NO;
}

static enum match match_payload(struct json_object *payload, struct json_object *wanted,
				const struct packet *packet)
{
	const char *protocol = string_member(payload, "protocol");
	const char *field = string_member(payload, "field");

	if (!strcmp(protocol, "udp") || !strcmp(protocol, "th"))
		return match_port(field, wanted, packet);
	if (!strcmp(protocol, "ether"))
		return strcmp(field, "type") ? MATCH_PERHAPS : match_ethertype(wanted, packet);
	if (!strcmp(protocol, packet->v6 ? "ip6" : "ip") && packet->udp)
		return strcmp(field, packet->v6 ? "nexthdr" : "protocol") ? MATCH_PERHAPS :
			match_transport(wanted, packet);
	return *protocol ? MATCH_NO : MATCH_PERHAPS;	/* of another protocol, or raw bytes */
}

static enum match match_meta(const char *key, struct json_object *wanted,
			     const struct packet *packet)
{
	const struct value interface = { .name = packet->interface };

	if (!strcmp(key, "iifname") || !strcmp(key, "iif"))
		return match_value(wanted, &interface);
	if (!strcmp(key, "l4proto"))
		return match_transport(wanted, packet);
	if (!strcmp(key, "protocol"))
		return match_ethertype(wanted, packet);
	return MATCH_PERHAPS;
}

/* Connections are new to the host, perhaps: accepting replies alone does not help. */
static enum match match_connection(const char *key, struct json_object *wanted,
				   const struct packet *packet)
{
	const struct value fresh = { .name = "new" };

	if (!packet->udp)
		return MATCH_NO;
	if (strcmp(key, "state") || match_value(wanted, &fresh) != MATCH_NO)
		return MATCH_PERHAPS;
	return MATCH_NO;
}

static enum match match_statement(struct json_object *match, const struct packet *packet)
{
	struct json_object *left = member(match, "left"), *wanted = member(match, "right");
	struct json_object *payload = member(left, "payload"), *meta = member(left, "meta");
	enum match matches = MATCH_PERHAPS;

	if (payload)
		matches = match_payload(payload, wanted, packet);
	else if (meta)
		matches = match_meta(string_member(meta, "key"), wanted, packet);
	else if (member(left, "ct"))
		matches = match_connection(string_member(member(left, "ct"), "key"), wanted,
					   packet);
	if (!member_is(match, "op", "!=") || matches == MATCH_PERHAPS)
		return matches;
	return matches == MATCH_YES ? MATCH_NO : MATCH_YES;
}

/* ---- rules and chains ---- */

static enum fate chain_fate(const struct ruleset *ruleset, struct json_object *chain,
			    unsigned int depth);

static bool is_of_chain(struct json_object *rule, struct json_object *chain, const char *name)
{
	return member_is(rule, "chain", name) &&
	       member_is(rule, "table", string_member(chain, "table")) &&
	       member_is(rule, "family", string_member(chain, "family"));
}

static struct json_object *find_chain(const struct ruleset *ruleset, struct json_object *beside,
				      const char *name)
{
	size_t i;

	for (i = 0; i < length_of(ruleset->entries); i++) {
		struct json_object *chain;

		chain = member(json_object_array_get_idx(ruleset->entries, i), "chain");
		if (chain && member_is(chain, "name", name) &&
		    member_is(chain, "table", string_member(beside, "table")) &&
		    member_is(chain, "family", string_member(beside, "family")))
			return chain;
	}
	return NULL;
}

/* Statements that end in a verdict, or in other chains. */
static bool statement_fate(const struct ruleset *ruleset, struct json_object *chain,
			   struct json_object *statement, unsigned int depth, enum fate *fate)
{
	struct json_object *jump = member(statement, "jump"), *target;

	if (json_object_object_get_ex(statement, "drop", NULL) ||
	    json_object_object_get_ex(statement, "reject", NULL))
		*fate = FATE_DROPS;
	else if (json_object_object_get_ex(statement, "accept", NULL))
		*fate = FATE_PASSES;
	else if (jump || (jump = member(statement, "goto")))
		*fate = (target = find_chain(ruleset, chain, string_member(jump, "target"))) ?
			chain_fate(ruleset, target, depth + 1) : FATE_GOES_ON;
	else
		return false;
	return true;
}

/* Of one rule; what it may do counts if it drops, and does not if it accepts. */
static enum fate rule_fate(const struct ruleset *ruleset, struct json_object *chain,
			   struct json_object *rule, unsigned int depth)
{
	struct json_object *statements = member(rule, "expr");
	enum match matches = MATCH_YES;
	enum fate fate;
	size_t i;

	for (i = 0; i < length_of(statements); i++) {
		struct json_object *statement = json_object_array_get_idx(statements, i);
		enum match match = MATCH_YES;

		if (member(statement, "match"))
			match = match_statement(member(statement, "match"), ruleset->packet);
		else if (json_object_object_get_ex(statement, "limit", NULL) ||
			 json_object_object_get_ex(statement, "xt", NULL))
			match = MATCH_PERHAPS;
		else if (statement_fate(ruleset, chain, statement, depth, &fate))
			return fate == FATE_PASSES && matches != MATCH_YES ? FATE_GOES_ON : fate;
		if (match < matches)
			matches = match;
		if (matches == MATCH_NO)
			break;
	}
	return FATE_GOES_ON;
}

static enum fate chain_fate(const struct ruleset *ruleset, struct json_object *chain,
			    unsigned int depth)
{
	const char *name = string_member(chain, "name");
	enum fate fate = FATE_GOES_ON;
	size_t i;

	if (depth > DEPTH_MAX)
		return FATE_GOES_ON;
	for (i = 0; fate == FATE_GOES_ON && i < length_of(ruleset->entries); i++) {
		struct json_object *rule;

		rule = member(json_object_array_get_idx(ruleset->entries, i), "rule");
		if (rule && is_of_chain(rule, chain, name))
			fate = rule_fate(ruleset, chain, rule, depth);
	}
	if (fate == FATE_GOES_ON && member_is(chain, "policy", "drop"))
		fate = FATE_DROPS;
	return fate;
}

/* ---- base chains ---- */

/* nft 1.0.6 does not say of which. */
static bool is_of_device(struct json_object *chain, const struct packet *packet)
{
	const struct value interface = { .name = packet->interface };
	struct json_object *devices = member(chain, "dev");

	return !devices || match_value(devices, &interface) == MATCH_YES;
}

/* Does the packet come by here? */
static bool chain_concerns(struct json_object *chain, const struct packet *packet)
{
	const char *family = string_member(chain, "family"), *hook = string_member(chain, "hook");

	if (!strcmp(hook, "ingress") || !strcmp(hook, "egress"))
		return is_of_device(chain, packet);
	if (strcmp(hook, "prerouting") && strcmp(hook, "input") && strcmp(hook, "output"))
		return false;
	if (!strcmp(family, "bridge"))
		return packet->bridge;
	return packet->udp && (!strcmp(family, "inet") ||
			       !strcmp(family, packet->v6 ? "ip6" : "ip"));
}

/* Firewalls that write their rules themselves are told, or they would forget it. */
static void mend_chain(const struct ruleset *ruleset, struct json_object *chain,
		       struct finding *finding)
{
	const struct packet *packet = ruleset->packet;
	char match[64];

	if (packet->udp && member_is(chain, "table", "firewalld")) {
		finding_mend(finding, NULL, "firewall-cmd --permanent --add-port=%u/udp && "
			     "firewall-cmd --reload", packet->port);
		return;
	}
	if (packet->udp && (find_chain(ruleset, chain, "ufw-user-input") ||
			    find_chain(ruleset, chain, "ufw6-user-input"))) {
		finding_mend(finding, NULL, "ufw allow %u/udp", packet->port);
		return;
	}
	if (packet->udp)
		snprintf(match, sizeof(match), "udp dport %u", packet->port);
	else
		snprintf(match, sizeof(match), "ether type 0x%04x", packet->ethertype);
	finding_mend(finding, NULL, "nft insert rule %s %s %s %s accept",
		     shell_word(string_member(chain, "family"), "FAMILY"),
		     shell_word(string_member(chain, "table"), "TABLE"),
		     shell_word(string_member(chain, "name"), "CHAIN"), match);
}

bool ruleset_drops(struct json_object *all, const struct packet *packet, struct finding *finding)
{
	const struct ruleset ruleset = { .entries = member(all, "nftables"), .packet = packet };
	bool drops = false;
	size_t i;

	for (i = 0; i < length_of(ruleset.entries); i++) {
		struct json_object *chain;

		chain = member(json_object_array_get_idx(ruleset.entries, i), "chain");
		if (!chain || !chain_concerns(chain, packet) ||
		    chain_fate(&ruleset, chain, 0) != FATE_DROPS)
			continue;
		if (!drops)
			finding_say(finding, VERDICT_FAULT,
				    "rules of nftables drop our %s (chain %s of table %s %s)",
				    packet->udp ? "UDP packets" : "frames",
				    string_member(chain, "name"), string_member(chain, "family"),
				    string_member(chain, "table"));
		mend_chain(&ruleset, chain, finding);
		drops = true;
	}
	return drops;
}

/* ---- filters of tc ---- */

/* "filter protocol all pref 49152 u32 ..."; a number that has no name is in brackets. */
static bool filter_concerns(const char *protocol, const struct packet *packet)
{
	unsigned long number;

	if (!strcmp(protocol, "all"))
		return true;
	if (packet->udp)
		return !strcmp(protocol, packet->v6 ? "ipv6" : "ip");
	number = strtoul(protocol + (*protocol == '['), NULL, 0);
	return number && number == packet->ethertype;
}

static void mend_filters(const struct packet *packet, const char *direction, unsigned int first,
			 struct finding *finding)
{
	const char *interface = shell_word(packet->interface, "INTERFACE");
	char match[64];

	if (packet->udp)
		snprintf(match, sizeof(match), "protocol %s flower ip_proto udp dst_port %u",
			 packet->v6 ? "ipv6" : "ip", packet->port);
	else
		snprintf(match, sizeof(match), "protocol 0x%04x matchall", packet->ethertype);
	if (first > 1)
		finding_mend(finding, NULL, "tc filter add dev %s %s pref %u %s action pass",
			     interface, direction, first - 1, match);
	else	/* nothing can come before it */
		finding_mend(finding, NULL, "tc filter del dev %s %s pref 1", interface, direction);
}

bool filters_drop(const char *text, const struct packet *packet, const char *direction,
		  struct finding *finding)
{
	unsigned int preference, first = 0;
	bool concerns = false, drops = false;
	char protocol[32];

	while (text && *text) {
		const char *end = strchr(text, '\n'), *drop = strstr(text, "action drop");

		if (sscanf(text, "filter protocol %31s pref %u", protocol, &preference) == 2) {
			concerns = filter_concerns(protocol, packet);
			if (!first || preference < first)
				first = preference;
		}
		drops = drops || (concerns && drop && (!end || drop < end));
		text = end ? end + 1 : NULL;
	}
	if (!drops)
		return false;
	finding_say(finding, VERDICT_FAULT, "a filter of tc at %s (%s) drops our %s, perhaps",
		    packet->interface, direction, packet->udp ? "UDP packets" : "frames");
	mend_filters(packet, direction, first, finding);
	return true;
}
