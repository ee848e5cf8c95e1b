/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of firewalls that omx_info --doctor evaluates: each function names the case. */
#include <json.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/ruleset.h"
#include "expect.h"

#define ALL		"{\"nftables\": [{\"metainfo\": {\"json_schema_version\": 1}}, "
#define TABLE		"{\"table\": {\"family\": \"inet\", \"name\": \"filter\", \"handle\": 1}}, "
#define BASE(hook, policy) "{\"chain\": {\"family\": \"inet\", \"table\": \"filter\", " \
	"\"name\": \"" hook "\", \"handle\": 1, \"type\": \"filter\", \"hook\": \"" hook "\", " \
	"\"prio\": 0, \"policy\": \"" policy "\"}}"
#define CHAIN(name)	"{\"chain\": {\"family\": \"inet\", \"table\": \"filter\", " \
	"\"name\": \"" name "\", \"handle\": 9}}"
#define RULE(chain, ...) "{\"rule\": {\"family\": \"inet\", \"table\": \"filter\", \"chain\": \"" \
	chain "\", \"handle\": 4, \"expr\": [" __VA_ARGS__ "]}}"
#define MATCH(op, left, right) "{\"match\": {\"op\": \"" op "\", \"left\": {" left "}, \"right\": " \
	right "}}, "
#define DPORT(right)	MATCH("==", "\"payload\": {\"protocol\": \"udp\", \"field\": \"dport\"}", right)
#define STATE(right)	MATCH("in", "\"ct\": {\"key\": \"state\"}", right)
#define INTERFACE(op, right) MATCH(op, "\"meta\": {\"key\": \"iifname\"}", right)
#define ETHERTYPE(right) MATCH("==", "\"payload\": {\"protocol\": \"ether\", \"field\": \"type\"}", right)
#define DROP		"{\"drop\": null}"
#define ACCEPT		"{\"accept\": null}"
#define REJECT		"{\"counter\": {\"packets\": 0}}, {\"reject\": {\"type\": \"icmp\"}}"
#define END		"]}"

static const struct packet udp_packet = {
	.udp = true, .port = 8687, .ethertype = 0x86df, .interface = "eth0",
};
static const struct packet frame = { .ethertype = 0x86df, .interface = "eth0" };

static struct finding finding;

static bool drops(const char *text, const struct packet *packet)
{
	struct json_object *ruleset = json_tokener_parse(text);
	bool result;

	EXPECT(ruleset);
	memset(&finding, 0, sizeof(finding));
	result = ruleset_drops(ruleset, packet, &finding);
	json_object_put(ruleset);
	EXPECT(result == (finding.remedies > 0));
	EXPECT(result == (finding.verdict == VERDICT_FAULT));
	return result;
}

static bool input_drops(const char *policy, const char *rules)
{
	char text[4096];

	snprintf(text, sizeof(text), ALL TABLE BASE("input", "%s") "%s%s" END, policy,
		 *rules ? ", " : "", rules);
	return drops(text, &udp_packet);
}

static bool command_is(const char *command)
{
	return strcmp(finding.remedy[0].command, command) == 0 && !*finding.remedy[0].host;
}

/* ---- UDP ---- */

static void ruleset__nothing_is_no_firewall(void)
{
	memset(&finding, 0, sizeof(finding));
	EXPECT(!ruleset_drops(NULL, &udp_packet, &finding));
	EXPECT(!drops("{}", &udp_packet));
	EXPECT(!drops("[1, {\"chain\": 7}, null]", &udp_packet));
	EXPECT(!drops("{\"nftables\": [null, 3, {\"chain\": null}, {\"rule\": []}]}", &udp_packet));
	EXPECT(!input_drops("accept", ""));
}

static void ruleset__a_policy_drops_what_no_rule_accepts(void)
{
	EXPECT(input_drops("drop", ""));
	EXPECT(command_is("nft insert rule inet filter input udp dport 8687 accept"));
	EXPECT(!input_drops("drop", RULE("input", DPORT("8687") ACCEPT)));
	EXPECT(input_drops("drop", RULE("input", DPORT("8688") ACCEPT)));
	/* Accepted from some only, or now and then. */
	EXPECT(input_drops("drop", RULE("input", MATCH("==", "\"payload\": {\"protocol\": \"ip\", "
			   "\"field\": \"saddr\"}", "\"10.0.0.9\"") DPORT("8687") ACCEPT)));
	EXPECT(input_drops("drop", RULE("input", DPORT("8687") "{\"limit\": {\"rate\": 1}}, " ACCEPT)));
	EXPECT(input_drops("drop", RULE("input", STATE("[\"established\", \"related\"]") ACCEPT)));
	EXPECT(!drops(ALL TABLE BASE("forward", "drop") END, &udp_packet));
	EXPECT(drops(ALL TABLE BASE("output", "drop") END, &udp_packet));
	EXPECT(command_is("nft insert rule inet filter output udp dport 8687 accept"));
}

static void ruleset__the_first_rule_that_matches_counts(void)
{
	EXPECT(input_drops("accept", RULE("input", DPORT("8687") DROP)));
	EXPECT(input_drops("accept", RULE("input", DPORT("8687") REJECT)));
	EXPECT(!input_drops("accept", RULE("input", DPORT("53") DROP)));
	EXPECT(!input_drops("accept", RULE("input", DPORT("8687") ACCEPT) ", "
			    RULE("input", DPORT("8687") DROP)));
	EXPECT(input_drops("accept", RULE("input", DPORT("8687") DROP) ", "
			   RULE("input", DPORT("8687") ACCEPT)));
	EXPECT(!input_drops("accept", RULE("input", STATE("\"invalid\"") DROP)));
	EXPECT(!input_drops("accept", RULE("elsewhere", DPORT("8687") DROP)));
}

static void ruleset__values_have_many_forms(void)
{
	EXPECT(input_drops("accept", RULE("input", DPORT("{\"set\": [53, 8687]}") DROP)));
	EXPECT(!input_drops("accept", RULE("input", DPORT("{\"set\": [53, 123]}") DROP)));
	EXPECT(input_drops("accept", RULE("input", DPORT("{\"range\": [8000, 9000]}") DROP)));
	EXPECT(!input_drops("accept", RULE("input", DPORT("{\"range\": [1, 1023]}") DROP)));
	EXPECT(input_drops("accept", RULE("input", DPORT("{\"set\": [{\"range\": [8600, 8700]}]}") DROP)));
	EXPECT(input_drops("accept", RULE("input", DPORT("\"@closed\"") DROP)));
	EXPECT(input_drops("drop", RULE("input", DPORT("\"@open\"") ACCEPT)));
	EXPECT(input_drops("accept", RULE("input", INTERFACE("==", "\"eth*\"") DROP)));
	EXPECT(!input_drops("accept", RULE("input", INTERFACE("==", "\"wlan*\"") DROP)));
	EXPECT(!input_drops("accept", RULE("input", INTERFACE("!=", "\"eth0\"") DROP)));
	EXPECT(input_drops("accept", RULE("input", INTERFACE("!=", "\"lo\"") DROP)));
	EXPECT(!input_drops("accept", RULE("input", MATCH("==", "\"meta\": {\"key\": \"l4proto\"}",
							  "\"tcp\"") DROP)));
	EXPECT(input_drops("accept", RULE("input", MATCH("==", "\"meta\": {\"key\": \"l4proto\"}",
							 "\"udp\"") DROP)));
	EXPECT(!input_drops("accept", RULE("input", MATCH("==", "\"payload\": {\"protocol\": \"tcp\", "
							  "\"field\": \"dport\"}", "8687") DROP)));
}

static void ruleset__chains_jump_to_chains(void)
{
	const char *jump = RULE("input", "{\"jump\": {\"target\": \"local\"}}");
	char text[2048];

	snprintf(text, sizeof(text), CHAIN("local") ", %s, %s", jump,
		 RULE("local", DPORT("8687") DROP));
	EXPECT(input_drops("accept", text));
	EXPECT(command_is("nft insert rule inet filter input udp dport 8687 accept"));
	snprintf(text, sizeof(text), CHAIN("local") ", %s, %s", jump,
		 RULE("local", DPORT("8687") ACCEPT));
	EXPECT(!input_drops("drop", text));
	snprintf(text, sizeof(text), CHAIN("local") ", %s", jump);
	EXPECT(input_drops("drop", text));
	/* The kernel accepts no loop, and one in the text ends. */
	snprintf(text, sizeof(text), CHAIN("local") ", %s, %s", jump,
		 RULE("local", "{\"jump\": {\"target\": \"local\"}}"));
	EXPECT(!input_drops("accept", text));
}

static void ruleset__the_version_of_ip_decides(void)
{
	const char *text = "{\"nftables\": [{\"chain\": {\"family\": \"ip6\", \"table\": \"t\", "
		"\"name\": \"in\", \"hook\": \"input\", \"policy\": \"drop\"}}]}";
	const struct packet v6 = { .udp = true, .v6 = true, .port = 99, .interface = "eth0" };

	EXPECT(!drops(text, &udp_packet));
	EXPECT(drops(text, &v6));
	EXPECT(command_is("nft insert rule ip6 t in udp dport 99 accept"));
	EXPECT(!drops(text, &frame));
}

static void ruleset__who_writes_the_rules_is_told(void)
{
	EXPECT(drops("{\"nftables\": [{\"chain\": {\"family\": \"inet\", \"table\": \"firewalld\", "
		     "\"name\": \"filter_INPUT\", \"hook\": \"input\", \"policy\": \"drop\"}}]}",
		     &udp_packet));
	EXPECT(command_is("firewall-cmd --permanent --add-port=8687/udp && firewall-cmd --reload"));
	EXPECT(input_drops("drop", CHAIN("ufw-user-input")));
	EXPECT(command_is("ufw allow 8687/udp"));
}

/* ---- Ethernet ---- */

#define INGRESS(dev, rules) "{\"nftables\": [{\"chain\": {\"family\": \"netdev\", \"table\": \"t\", " \
	"\"name\": \"c\", \"dev\": " dev ", \"hook\": \"ingress\", \"policy\": \"accept\"}}, " \
	"{\"rule\": {\"family\": \"netdev\", \"table\": \"t\", \"chain\": \"c\", \"expr\": [" rules "]}}]}"

static void ruleset__frames_pass_the_hooks_of_their_device(void)
{
	EXPECT(drops(INGRESS("\"eth0\"", ETHERTYPE("34527") DROP), &frame));
	EXPECT(command_is("nft insert rule netdev t c ether type 0x86df accept"));
	EXPECT(drops(INGRESS("\"eth0\"", ETHERTYPE("\"0x86df\"") DROP), &frame));
	EXPECT(drops(INGRESS("[\"eth1\", \"eth0\"]", DROP), &frame));
	EXPECT(!drops(INGRESS("\"eth1\"", DROP), &frame));
	EXPECT(drops(INGRESS("null", DROP), &frame));
	EXPECT(!drops(INGRESS("\"eth0\"", ETHERTYPE("\"arp\"") DROP), &frame));
	EXPECT(!drops(INGRESS("\"eth0\"", DPORT("8687") DROP), &frame));
	EXPECT(drops(INGRESS("\"eth0\"", DPORT("8687") DROP), &udp_packet));
	EXPECT(!drops(ALL TABLE BASE("input", "drop") END, &frame));
}

static void ruleset__bridges_have_hooks_of_their_own(void)
{
	const char *text = "{\"nftables\": [{\"chain\": {\"family\": \"bridge\", \"table\": \"t\", "
		"\"name\": \"c\", \"hook\": \"input\", \"policy\": \"drop\"}}]}";
	const struct packet bridged = { .ethertype = 0x86df, .interface = "br0", .bridge = true };

	EXPECT(!drops(text, &frame));
	EXPECT(drops(text, &bridged));
	EXPECT(command_is("nft insert rule bridge t c ether type 0x86df accept"));
}

/* ---- tc ---- */

static bool filtered(const char *text, const struct packet *packet)
{
	memset(&finding, 0, sizeof(finding));
	return filters_drop(text, packet, "ingress", &finding);
}

static void filters__a_rule_in_front_lets_frames_pass(void)
{
	const char *text =
		"filter protocol ip pref 100 flower chain 0 \n"
		"filter protocol ip pref 100 flower chain 0 handle 0x1 \n"
		"  dst_port 8687\n"
		"\taction order 1: gact action pass\n"
		"filter protocol [34527] pref 49152 u32 chain 0 \n"
		"filter protocol [34527] pref 49152 u32 chain 0 fh 800::800 order 2048\n"
		"  match 00010000/00ff0000 at 0\n"
		"\taction order 1: gact action drop\n"
		"\t random type none pass val 0\n";

	EXPECT(filtered(text, &frame));
	EXPECT(command_is("tc filter add dev eth0 ingress pref 99 protocol 0x86df matchall action pass"));
	EXPECT(!filtered(text, &udp_packet));
	EXPECT(!filtered(NULL, &frame));
	EXPECT(!filtered("", &frame));
}

static void filters__nothing_comes_before_the_first(void)
{
	const char *text = "filter protocol all pref 1 matchall chain 0 \n"
		"\taction order 1: gact action drop\n";

	EXPECT(filtered(text, &udp_packet));
	EXPECT(command_is("tc filter del dev eth0 ingress pref 1"));
}

/* Who may name an interface must not have the administrator execute the name. */
static void filters__names_that_a_shell_executes_are_left_out(void)
{
	static const char *const names[] = { ";reboot", "$(reboot)", "`reboot`", "a&b", "-x", "" };
	const char *text = "filter protocol all pref 1 matchall chain 0 \n"
		"\taction order 1: gact action drop\n";
	struct packet packet = frame;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		packet.interface = names[i];
		EXPECT(filtered(text, &packet));
		EXPECT(command_is("tc filter del dev INTERFACE ingress pref 1"));
	}
	packet.interface = "eth0.5@if-1";
	EXPECT(filtered(text, &packet));
	EXPECT(command_is("tc filter del dev eth0.5@if-1 ingress pref 1"));
}

int main(void)
{
	ruleset__nothing_is_no_firewall();
	ruleset__a_policy_drops_what_no_rule_accepts();
	ruleset__the_first_rule_that_matches_counts();
	ruleset__values_have_many_forms();
	ruleset__chains_jump_to_chains();
	ruleset__the_version_of_ip_decides();
	ruleset__who_writes_the_rules_is_told();
	ruleset__frames_pass_the_hooks_of_their_device();
	ruleset__bridges_have_hooks_of_their_own();
	filters__a_rule_in_front_lets_frames_pass();
	filters__nothing_comes_before_the_first();
	filters__names_that_a_shell_executes_are_left_out();
	return 0;
}
