// SPDX-License-Identifier: BSD-2-Clause
/*
 * omx_init and omx_finalize: that each succeeds once, and their errors when
 * /dev/omx cannot be used.
 */
#include "endpoints.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_works_before_init(void)
{
	char name[OMX_HOSTNAMELEN_MAX] = "node1:0";
	omx_endpoint_t ep = NULL;
	uint32_t u32;
	uint64_t nic;

	RETURNS(omx_open_endpoint(0, 1, KEY, NULL, 0, &ep), OMX_NOT_INITIALIZED);
	CHECK(!ep);
	RETURNS(omx_board_number_to_nic_id(0, &nic), OMX_NOT_INITIALIZED);
	RETURNS(omx_nic_id_to_board_number(1, &u32), OMX_NOT_INITIALIZED);
	RETURNS(omx_hostname_to_nic_id(name, &nic), OMX_NOT_INITIALIZED);
	RETURNS(omx_nic_id_to_hostname(1, name), OMX_NOT_INITIALIZED);
	RETURNS(omx_get_info(NULL, OMX_INFO_BOARD_MAX, NULL, 0, &u32, sizeof(u32)),
		OMX_NOT_INITIALIZED);
	RETURNS(omx_finalize(), OMX_NOT_INITIALIZED);
}

static void init_is_once(void)
{
	MUST(omx_init());
	RETURNS(omx_init(), OMX_ALREADY_INITIALIZED);
	MUST(omx_finalize());
	RETURNS(omx_finalize(), OMX_NOT_INITIALIZED);
	MUST(omx_init());
	MUST(omx_finalize());
}

static void other_interface_is_refused(void)
{
	RETURNS(omx__init_api(0x200), OMX_BAD_LIB_ABI);
	RETURNS(omx__init_api(0x7fff), OMX_BAD_LIB_ABI);
}

static void finalize_closes_endpoints(void)
{
	omx_endpoint_t ep;

	MUST(omx_init());
	ep = open_number(9, NULL, 0);
	MUST(omx_finalize());
	RETURNS(omx_progress(ep), OMX_BAD_ENDPOINT);
	MUST(omx_init());
	/* Its number is free again. */
	ep = open_number(9, NULL, 0);
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

static void in_child(void (*test)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		test();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void hide_devices(void)
{
	CHECK(!unshare(CLONE_NEWNS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("none", "/dev", "tmpfs", 0, NULL));
}

static void without_device_file(void)
{
	hide_devices();
	RETURNS(omx_init(), OMX_NO_DEVICE_FILE);
	/* A failed omx_init() leaves the library uninitialized. */
	RETURNS(omx_init(), OMX_NO_DEVICE_FILE);
}

static void without_driver(void)
{
	hide_devices();
	/* A device number for local use, which no driver has. */
	CHECK(!mknod("/dev/omx", S_IFCHR | 0666, makedev(240, 77)));
	RETURNS(omx_init(), OMX_NO_DRIVER);
}

static void without_permission(void)
{
	struct stat st;

	CHECK(!stat("/dev/omx", &st));
	hide_devices();
	CHECK(!mknod("/dev/omx", S_IFCHR | 0600, st.st_rdev));
	CHECK(!chmod("/dev/omx", 0600));
	CHECK(!setuid(65534));
	RETURNS(omx_init(), OMX_ACCESS_DENIED);
}

static void as_anybody(void)
{
	CHECK(!setuid(65534));
	MUST(omx_init());
	MUST(omx_close_endpoint(open_any()));
	MUST(omx_finalize());
}

static void every_code_has_a_text(void)
{
	const char *unknown = omx_strerror(OMX_RETURN_CODE_MAX);
	int code;

	CHECK(unknown && *unknown);
	for (code = -1; code <= 1000; code++)
		CHECK(omx_strerror(code) && *omx_strerror(code), " code %d", code);
	CHECK(strcmp(omx_strerror(OMX_BUSY), omx_strerror(OMX_TIMEOUT)));
	CHECK(strcmp(omx_strerror(OMX_MESSAGE_TRUNCATED), unknown));
}

static void run_test(void)
{
	nothing_works_before_init();
	init_is_once();
	other_interface_is_refused();
	finalize_closes_endpoints();
	in_child(without_device_file);
	in_child(without_driver);
	in_child(without_permission);
	in_child(as_anybody);
	every_code_has_a_text();
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
