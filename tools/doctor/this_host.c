/* SPDX-License-Identifier: BSD-2-Clause */
/* The module, its device, what it speaks, and the boards of this host. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "advice.h"
#include "config.h"
#include "doctor/doctor.h"

#define RELEASE_LEN sizeof(((struct utsname *)NULL)->release)

/* ---- module ---- */

/* A line of modules.dep, such as "updates/dkms/omx.ko.xz: ...", has the file of omx. */
static bool line_is_of_omx(char *line)
{
	char *end = strchr(line, ':'), *base;

	if (!end)
		return false;
	*end = '\0';
	base = strrchr(line, '/');
	base = base ? base + 1 : line;
	return strncmp(base, "omx.ko", 6) == 0 && (!base[6] || base[6] == '.');
}

static bool kernel_has_module(const char *release)
{
	char path[RELEASE_LEN + 32], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = line_is_of_omx(line);
	free(line);
	fclose(file);
	return found;
}

/* Finds another kernel that has the module. */
static bool find_other_kernel(const char *release, char other[RELEASE_LEN])
{
	DIR *directory = opendir("/lib/modules");
	struct dirent *entry;
	bool found = false;

	if (!directory)
		return false;
	while (!found && (entry = readdir(directory))) {
		if (*entry->d_name == '.' || !strcmp(entry->d_name, release) ||
		    strlen(entry->d_name) >= RELEASE_LEN)
			continue;
		found = kernel_has_module(entry->d_name);
		if (found)
			snprintf(other, RELEASE_LEN, "%.*s", (int)RELEASE_LEN - 1, entry->d_name);
	}
	closedir(directory);
	return found;
}

static bool module_is_loaded(void)
{
	return access("/sys/module/omx", F_OK) == 0 || access(DEVICE_PATH, F_OK) == 0;
}

/* `then` is what remains to be done after the module has been installed. */
static void mend_installation(struct finding *finding, const char *release, const char *then)
{
	char headers[RELEASE_LEN + 64] = "", build[RELEASE_LEN + 32];

	snprintf(build, sizeof(build), "/lib/modules/%s/build", release);
	if (from_packages() && access(build, F_OK) < 0)
		snprintf(headers, sizeof(headers), "apt-get install linux-headers-%s && ", release);
	if (access("/var/lib/dkms/omx", F_OK) == 0)
		finding_mend(finding, NULL, "%sdkms install -m omx -v " PACKAGE_VERSION " -k %s%s",
			     headers, release, then);
	else if (from_packages())
		finding_mend(finding, NULL, "%sapt-get install --reinstall omx-dkms%s", headers,
			     then);
	else	/* in the directory of the sources */
		finding_mend(finding, NULL, "make module module_install KDIR=%s%s", build, then);
}

static void module_is_absent(struct finding *finding, const char *release)
{
	char other[RELEASE_LEN];

	if (kernel_has_module(release)) {
		finding_say(finding, VERDICT_FAULT,
			    "the module is not loaded; it is installed for %s", release);
		finding_mend(finding, NULL, "modprobe omx");
		return;
	}
	if (find_other_kernel(release, other))
		finding_say(finding, VERDICT_FAULT,
			    "the module was built for %s, not for %s, which is running", other,
			    release);
	else
		finding_say(finding, VERDICT_FAULT,
			    "the module is neither loaded nor installed for %s", release);
	mend_installation(finding, release, " && modprobe omx");
}

static void read_loaded_version(char *version, int size)
{
	FILE *file = fopen("/sys/module/omx/version", "re");

	if (!file || !fgets(version, size, file))
		snprintf(version, size, "(unknown version)");
	version[strcspn(version, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void module_is_there(struct finding *finding, const char *release)
{
	const char *modinfo = "PATH=$PATH:/usr/sbin:/sbin modinfo -F version omx 2>/dev/null";
	char version[64], installed[64];

	read_loaded_version(version, sizeof(version));
	if (!kernel_has_module(release)) {
		finding_say(finding, VERDICT_WARNING,
			    "omx %s is loaded, but not installed for %s: not at the next boot",
			    version, release);
		mend_installation(finding, release, "");
	} else if (first_line(modinfo, installed, sizeof(installed)) &&
		   strcmp(installed, version)) {
		finding_say(finding, VERDICT_WARNING, "omx %s is loaded, but %s is installed",
			    version, installed);
		finding_mend(finding, NULL, "modprobe -r omx && modprobe omx");
	} else {
		finding_say(finding, VERDICT_OK, "omx %s is loaded, and installed for %s", version,
			    release);
	}
}

void check_module(struct doctor *doctor, struct finding *finding)
{
	struct utsname system;

	uname(&system);
	if (!module_is_loaded()) {
		module_is_absent(finding, system.release);
		return;
	}
	doctor->stage = STAGE_MODULE;
	module_is_there(finding, system.release);
}

/* ---- device ---- */

static void device_is_absent(struct finding *finding)
{
	unsigned int major, minor;
	char numbers[32];

	finding_say(finding, VERDICT_FAULT, "the module is loaded, but there is no " DEVICE_PATH);
	if (first_line("cat /sys/class/misc/omx/dev 2>/dev/null", numbers, sizeof(numbers)) &&
	    sscanf(numbers, "%u:%u", &major, &minor) == 2)
		finding_mend(finding, NULL, "mknod -m 666 " DEVICE_PATH " c %u %u", major, minor);
	else
		finding_mend(finding, NULL, "modprobe -r omx && modprobe omx");
}

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user ? user->pw_name : "this user";
}

/* A site may let in only a group, which is for its members to know. */
static void device_is_forbidden(struct finding *finding, int error)
{
	const struct group *group;
	struct stat status;

	if (stat(DEVICE_PATH, &status) < 0)
		memset(&status, 0, sizeof(status));
	group = getgrgid(status.st_gid);
	finding_say(finding, VERDICT_FAULT,
		    DEVICE_PATH ": %s for %s: its mode is %04o, its group %s",
		    strerror(error), user_name(), status.st_mode & 07777,
		    group ? group->gr_name : "unknown");
	if (error == EPERM)	/* the control group of a container */
		finding_mend(finding, NULL, "docker run --device " DEVICE_PATH " ...");
	else if (status.st_gid && group && (status.st_mode & 0060) == 0060)
		finding_mend(finding, NULL, "usermod -aG %s %s", group->gr_name, user_name());
	else
		finding_mend(finding, NULL, "chmod 666 " DEVICE_PATH);
}

static void device_fails(struct finding *finding, int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		device_is_absent(finding);
		break;
	case EACCES:
	case EPERM:
		device_is_forbidden(finding, error);
		break;
	default:
		finding_say(finding, VERDICT_FAULT, DEVICE_PATH ": %s", strerror(error));
		finding_mend(finding, NULL, "modprobe -r omx && modprobe omx");
	}
}

void check_device(struct doctor *doctor, struct finding *finding)
{
	int fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC), error = errno;

	if (fd >= 0) {
		error = ioctl(fd, OMX_IOC_INFO, &doctor->driver) < 0 ? errno : 0;
		close(fd);
	}
	if (error && fd < 0) {
		device_fails(finding, error);
	} else if (error) {
		finding_say(finding, VERDICT_FAULT, DEVICE_PATH " is no device of omx: %s",
			    strerror(error));
		finding_mend(finding, NULL,
			     "rm " DEVICE_PATH " && modprobe -r omx && modprobe omx");
	} else {
		doctor->stage = STAGE_DEVICE;
		finding_say(finding, VERDICT_OK, DEVICE_PATH " can be opened by %s", user_name());
	}
}

/* ---- ABI ---- */

static uint32_t oldest_of(const struct omx_ioc_info *driver)
{
	return driver->abi_oldest ? driver->abi_oldest : driver->abi_version;
}

/* The older one has to be brought up to date. */
static void abis_differ(const struct omx_ioc_info *driver, struct finding *finding)
{
	struct utsname system;

	uname(&system);
	finding_say(finding, VERDICT_FAULT,
		    "the driver (omx %.*s) speaks ABI %u to %u, the tools (" PACKAGE_VERSION
		    ") %u to %u: none in common", (int)sizeof(driver->version), driver->version,
		    oldest_of(driver), driver->abi_version, OMX_ABI_OLDEST, OMX_ABI_VERSION);
	if (driver->abi_version < OMX_ABI_OLDEST)
		mend_installation(finding, system.release, " && modprobe -r omx && modprobe omx");
	else if (from_packages())
		finding_mend(finding, NULL, "apt-get install --only-upgrade omx-utils libomx1");
	else
		finding_mend(finding, NULL, "make install && ldconfig");
}

/* A driver of before the family, or a sandbox around this tool. */
static void netlink_fails(const struct omx_ioc_info *driver, int error,
			  struct finding *finding)
{
	struct utsname system;

	if (error != ENOENT) {
		finding_say(finding, VERDICT_FAULT, "the driver cannot be asked by netlink: %s",
			    strerror(error));
		if (error == EPERM || error == EACCES || error == EAFNOSUPPORT)
			finding_mend(finding, NULL,
				     "docker run --security-opt seccomp=unconfined ...");
		return;
	}
	uname(&system);
	finding_say(finding, VERDICT_FAULT,
		    "the driver (omx %.*s) has no netlink family, by which the tools ("
		    PACKAGE_VERSION ") ask it", (int)sizeof(driver->version), driver->version);
	mend_installation(finding, system.release, " && modprobe -r omx && modprobe omx");
}

void check_abi(struct doctor *doctor, struct finding *finding)
{
	const struct omx_ioc_info *driver = &doctor->driver;
	int error;

	if (!omx_abi_common(driver)) {
		abis_differ(driver, finding);
		return;
	}
	error = netlink_open_silently(doctor->netlink);
	if (error) {
		netlink_fails(driver, -error, finding);
		return;
	}
	doctor->stage = STAGE_DRIVER;
	finding_say(finding, VERDICT_OK,
		    "driver %.*s speaks ABI %u to %u, the tools (" PACKAGE_VERSION ") %u to %u",
		    (int)sizeof(driver->version), driver->version, oldest_of(driver),
		    driver->abi_version, OMX_ABI_OLDEST, OMX_ABI_VERSION);
}

/* ---- boards ---- */

static bool read_number(const char *interface, const char *file, unsigned long *number)
{
	char path[512], line[32];
	bool read;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, file);
	in = fopen(path, "re");
	if (!in)
		return false;
	read = fgets(line, sizeof(line), in);
	fclose(in);
	*number = read ? strtoul(line, NULL, 0) : 0;
	return read;
}

static bool interface_has(const char *interface, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, file);
	return access(path, F_OK) == 0;
}

/* 0: it cannot be a board; the higher, the rather it is meant to be one. */
static unsigned int interface_suits(const char *interface)
{
	const unsigned long ethernet = 1, up = 0x1, loopback = 0x8;
	unsigned long type, flags;

	if (*interface == '.' || !read_number(interface, "type", &type) || type != ethernet ||
	    !read_number(interface, "flags", &flags) || flags & loopback ||
	    interface_has(interface, "master"))
		return 0;
	return 1 + (flags & up ? 2 : 0) + (interface_has(interface, "device") ? 1 : 0);
}

static void mend_boards(struct finding *finding)
{
	DIR *directory = opendir("/sys/class/net");
	unsigned int best = 0;
	struct dirent *entry;
	char name[32] = "";
	const char *word;

	while (directory && (entry = readdir(directory))) {
		unsigned int suits = interface_suits(entry->d_name);

		if (suits <= best || strlen(entry->d_name) >= sizeof(name))
			continue;
		best = suits;
		strcpy(name, entry->d_name);
	}
	if (directory)
		closedir(directory);
	word = shell_word(name, "INTERFACE");
	if (best > 2)
		finding_mend(finding, NULL, "omx_boards attach %s", word);
	else if (best)
		finding_mend(finding, NULL, "ip link set dev %s up && omx_boards attach %s", word,
			     word);
	else
		finding_mend(finding, NULL,
			     "ip link add omx0 up type dummy && omx_boards attach omx0");
}

static void list_boards(const struct board_list *boards, char *text, size_t size)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < boards->count && used < size; i++)
		used += snprintf(text + used, size - used, "%s%s (%s)", i ? ", " : "",
				 boards->board[i].name, boards->board[i].ifname);
}

void check_board(struct doctor *doctor, struct finding *finding)
{
	char text[320] = "";

	if (netlink_any_boards(doctor->netlink, doctor->only, &doctor->boards) < 0 ||
	    !doctor->boards.count) {
		if (doctor->only == OMX_ANY)
			finding_say(finding, VERDICT_FAULT, "no interface is a board");
		else
			finding_say(finding, VERDICT_FAULT, "there is no board %" PRIu32,
				    doctor->only);
		mend_boards(finding);
		return;
	}
	doctor->stage = STAGE_BOARD;
	list_boards(&doctor->boards, text, sizeof(text));
	finding_say(finding, VERDICT_OK, "%s", text);
}

/* ---- links ---- */

static void link_is_down(const struct omx_ioc_board *board, struct finding *finding)
{
	struct link_state state;

	link_state_read(board->ifname, &state);
	if (state.known && state.admin_up) {
		finding_say(finding, VERDICT_FAULT,
			    "%s has no carrier: cable, switch port or the other end",
			    board->ifname);
		finding_mend(finding, NULL, "ethtool %s",
			     shell_word(board->ifname, "INTERFACE"));
	} else {
		finding_say(finding, VERDICT_FAULT, "%s is down", board->ifname);
		finding_mend(finding, NULL, "ip link set dev %s up",
			     shell_word(board->ifname, "INTERFACE"));
	}
}

/* The first board that is down is named: no fault if others are up. */
void check_link(struct doctor *doctor, struct finding *finding)
{
	const struct board_list *boards = &doctor->boards;
	unsigned int i, up = 0;

	for (i = 0; i < boards->count; i++) {
		if (boards->board[i].flags & OMX_BOARD_UP)
			up++;
		else if (!finding->remedies)
			link_is_down(&boards->board[i], finding);
	}
	if (up)
		doctor->stage = STAGE_LINK;
	if (up == boards->count)
		finding_say(finding, VERDICT_OK, "%s", up == 1 ? "the board is up" :
			    "all boards are up");
	else if (up)
		finding->verdict = VERDICT_WARNING;
}
