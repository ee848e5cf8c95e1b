// SPDX-License-Identifier: BSD-2-Clause
/*
 * node I CMD...: run CMD on node I as the caller's user, in the caller's
 * directory. Where the node is a set of namespaces, enter them and become
 * CMD: no process in between, so signals and jobs are the shell's own.
 * Where it is another machine, ask the agent there.
 *
 * Installed setuid root in the guest, because entering needs privilege.
 *
 * node --serve MACHINE GROUP: be that agent; the commands join the control
 * group whose cgroup.procs is GROUP.
 *
 * node --make FIRST LAST: create nodes that are namespaces.
 *
 * Protocol: the client sends a request (struct request, then NUL-terminated
 * strings: directory, argv, environment), then frames 'i' (input, empty =
 * end) and 's' (signal); the agent sends frames 'o', 'e' (output, errors)
 * and 'x' (exit status) and closes. A client that is gone means SIGKILL.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_PORT 7777
#define AGENT_NET "169.254.77."
#define NS_DIR "/run/lab/ns"
#define FRAME_MAX 65536

extern char **environ;

struct request {
	uint32_t uid, gid, argc, envc, bytes;
};

struct frame {
	uint8_t type;
	uint8_t unused[3];
	uint32_t len;
};

static void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "node: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(125);
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		len -= n;
	}
	return 0;
}

static int read_all(int fd, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		len -= n;
	}
	return 0;
}

/* One write per frame, so that writers in two processes do not mix theirs. */
static int send_frame(int sock, char type, const void *data, uint32_t len)
{
	static char buffer[sizeof(struct frame) + FRAME_MAX];
	struct frame frame = { .type = type, .len = len };

	memcpy(buffer, &frame, sizeof(frame));
	memcpy(buffer + sizeof(frame), data, len);
	return write_all(sock, buffer, sizeof(frame) + len);
}

static int receive_frame(int sock, struct frame *frame, char *data)
{
	if (read_all(sock, frame, sizeof(*frame)) || frame->len > FRAME_MAX)
		return -1;
	return read_all(sock, data, frame->len);
}

/* ---- a command that is run, here or by the agent ---- */

static void run_command(char **argv)
{
	execvp(argv[0], argv);
	fprintf(stderr, "node: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void become_caller(void)
{
	if (setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid()))
		die("cannot become user %u again", getuid());
}

static void enter_directory(const char *directory)
{
	if (chdir(directory) && chdir("/"))
		die("cannot enter any directory");
}

/* ---- nodes that are namespaces ---- */

static void enter_namespace(const char *format, long node, int type)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), format, node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("there is no node %ld", node);
	if (setns(fd, type))
		die("cannot enter %s: %s", path, strerror(errno));
	close(fd);
}

/* The dynamic linker drops this one when it starts a setuid program. */
static void restore_library_path(void)
{
	const char *path = getenv("LAB_LIBRARY_PATH");

	if (path && !getenv("LD_LIBRARY_PATH"))
		setenv("LD_LIBRARY_PATH", path, 1);
}

static void run_in_namespaces(long node, char **argv)
{
	char *directory = get_current_dir_name();

	/* By way of process 1: the caller may be on a node, and see no other. */
	enter_namespace("/proc/1/root/run/netns/node%ld", node, CLONE_NEWNET);
	enter_namespace("/proc/1/root" NS_DIR "/node%ld.uts", node, CLONE_NEWUTS);
	enter_namespace("/proc/1/root" NS_DIR "/node%ld.mnt", node, CLONE_NEWNS);
	become_caller();
	enter_directory(directory ? directory : "/");
	restore_library_path();
	run_command(argv);
}

static void mount_view(const char *type, const char *at)
{
	if (mount(type, at, type, 0, NULL))
		die("cannot mount %s: %s", at, strerror(errno));
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write_all(fd, text, strlen(text)))
		die("cannot write %s: %s", path, strerror(errno));
	close(fd);
}

/*
 * Inside the node: its name, a /sys that shows its interfaces, mounts that
 * follow those of the guest, no IPv6 (its own chatter would be on the wire).
 */
static void furnish_node(long node)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "node%ld", node);

	if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) || sethostname(name, len) ||
	    mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) || umount2("/sys", MNT_DETACH))
		die("cannot make %s: %s", name, strerror(errno));
	mount_view("sysfs", "/sys");
	mount_view("cgroup2", "/sys/fs/cgroup");
	mount_view("debugfs", "/sys/kernel/debug");
	if (!access("/sys/kernel/tracing", F_OK))
		mount_view("tracefs", "/sys/kernel/tracing");
	if (!access("/proc/sys/net/ipv6", F_OK)) {
		write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
		write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	}
}

/* A file that keeps a namespace alive and has its name. */
static void keep_namespace(pid_t process, const char *type, const char *format, long node)
{
	char from[64], to[64];

	snprintf(from, sizeof(from), "/proc/%d/ns/%s", process, type);
	snprintf(to, sizeof(to), format, node);
	close(open(to, O_CREAT | O_CLOEXEC, 0444));
	if (mount(from, to, NULL, MS_BIND, NULL))
		die("cannot keep %s: %s", to, strerror(errno));
}

static void make_node(long node)
{
	int ready[2], over[2];
	pid_t child;
	char byte;

	if (pipe2(ready, O_CLOEXEC) || pipe2(over, O_CLOEXEC))
		die("no pipe");
	child = fork();
	if (!child) {
		close(over[1]);
		furnish_node(node);
		write_all(ready[1], "", 1);
		read_all(over[0], &byte, 1);
		_exit(0);
	}
	close(ready[1]);
	close(over[0]);
	if (read_all(ready[0], &byte, 1))
		exit(125);
	keep_namespace(child, "net", "/run/netns/node%ld", node);
	keep_namespace(child, "uts", NS_DIR "/node%ld.uts", node);
	keep_namespace(child, "mnt", NS_DIR "/node%ld.mnt", node);
	close(ready[0]);
	close(over[1]);
	waitpid(child, NULL, 0);
}

/* Network names are for all; a mount namespace is kept where none propagate. */
static void make_nodes(long first, long last)
{
	mkdir("/run/netns", 0755);
	mkdir(NS_DIR, 0755);
	mount_view("tmpfs", "/run/netns");
	mount_view("tmpfs", NS_DIR);
	mount("", NS_DIR, NULL, MS_PRIVATE, NULL);
	for (long node = first; node <= last; node++)
		make_node(node);
}

/* ---- nodes that are machines: the client ---- */

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int connect_agent(long node)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(AGENT_PORT) };
	char address[32];
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address, sizeof(address), AGENT_NET "%ld", node);
	inet_pton(AF_INET, address, &to.sin_addr);
	/* The other machine may still boot: try for 60 s. */
	for (int try = 0; try < 600; try++) {
		if (!connect(sock, (struct sockaddr *)&to, sizeof(to)))
			return sock;
		usleep(100000);
	}
	die("machine %ld does not answer", node);
	return -1;
}

static uint32_t put_strings(FILE *to, char **strings)
{
	uint32_t count = 0;

	for (; strings[count]; count++)
		fwrite(strings[count], strlen(strings[count]) + 1, 1, to);
	return count;
}

static void send_request(int sock, char **argv)
{
	struct request request = { .uid = getuid(), .gid = getgid() };
	char *directory = get_current_dir_name(), *strings;
	size_t len;
	FILE *memory = open_memstream(&strings, &len);

	if (!directory)
		directory = "/";
	fwrite(directory, strlen(directory) + 1, 1, memory);
	request.argc = put_strings(memory, argv);
	request.envc = put_strings(memory, environ);
	fclose(memory);
	request.bytes = len;
	if (write_all(sock, &request, sizeof(request)) || write_all(sock, strings, len))
		die("machine does not listen");
}

/* Returns whether there may be more input. */
static int forward_input(int sock)
{
	static char data[FRAME_MAX];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	if (n < 0)
		n = 0;
	send_frame(sock, 'i', data, n);
	return n > 0;
}

static void forward_signal(int sock, int signals)
{
	struct signalfd_siginfo info;
	uint32_t number;

	if (read_all(signals, &info, sizeof(info)))
		return;
	number = info.ssi_signo;
	send_frame(sock, 's', &number, sizeof(number));
}

static void take_frame(int sock)
{
	static char data[FRAME_MAX];
	struct frame frame;
	int32_t status;

	if (receive_frame(sock, &frame, data))
		die("connection to the machine lost");
	if (frame.type == 'x') {
		memcpy(&status, data, sizeof(status));
		exit(status);
	}
	write_all(frame.type == 'e' ? STDERR_FILENO : STDOUT_FILENO, data, frame.len);
}

static void run_on_machine(long node, char **argv)
{
	int signals = open_signals(), sock = connect_agent(node);
	struct pollfd fds[3] = {
		{ .fd = sock, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};

	send_request(sock, argv);
	for (;;) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[1].revents)
			forward_signal(sock, signals);
		if (fds[2].revents && !forward_input(sock))
			fds[2].fd = -1;
		if (fds[0].revents)
			take_frame(sock);
	}
}

/* ---- the agent ---- */

static char **split_strings(char **at, uint32_t count)
{
	char **list = calloc(count + 1, sizeof(*list));

	for (uint32_t i = 0; i < count; i++) {
		list[i] = *at;
		*at += strlen(*at) + 1;
	}
	return list;
}

static void join_group(const char *group)
{
	int fd = open(group, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write_all(fd, "0", 1))
		die("cannot join %s", group);
	close(fd);
}

static void become(const struct request *request)
{
	if (setgroups(0, NULL) || setresgid(request->gid, request->gid, request->gid) ||
	    setresuid(request->uid, request->uid, request->uid))
		die("cannot become user %u", request->uid);
}

/* Input and signals of the client; its end is the end of the command. */
static void feed_command(int sock, int input, pid_t command)
{
	static char data[FRAME_MAX];
	struct frame frame;
	uint32_t number;

	signal(SIGPIPE, SIG_IGN);
	while (!receive_frame(sock, &frame, data)) {
		if (frame.type == 's') {
			memcpy(&number, data, sizeof(number));
			kill(-command, number);
		} else if (frame.len) {
			write_all(input, data, frame.len);
		} else {
			close(input);
		}
	}
	kill(-command, SIGKILL);
	_exit(0);
}

static int pass_on(int sock, int fd, char type)
{
	static char data[FRAME_MAX];
	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0)
		send_frame(sock, type, data, n);
	return n > 0;
}

/*
 * Until the command is over and what it wrote is read. Its background
 * children may keep the pipes open: they are not waited for.
 */
static void drain_command(int sock, int out, int err, pid_t command)
{
	struct pollfd fds[3] = {
		{ .fd = out, .events = POLLIN },
		{ .fd = err, .events = POLLIN },
		{ .fd = syscall(SYS_pidfd_open, command, 0), .events = POLLIN },
	};

	while (poll(fds, 3, -1) >= 0 || errno == EINTR) {
		if (fds[0].revents && !pass_on(sock, out, 'o'))
			fds[0].fd = -1;
		if (fds[1].revents && !pass_on(sock, err, 'e'))
			fds[1].fd = -1;
		if (fds[2].revents)
			break;
	}
	fcntl(out, F_SETFL, O_NONBLOCK);
	fcntl(err, F_SETFL, O_NONBLOCK);
	while (pass_on(sock, out, 'o'))
		;
	while (pass_on(sock, err, 'e'))
		;
}

static pid_t start_command(const struct request *request, char *strings, const char *group,
			   int input, int output, int errors)
{
	char *at = strings, *directory = *split_strings(&at, 1);
	char **argv = split_strings(&at, request->argc);
	const char *self;
	pid_t pid = fork();

	if (pid)
		return pid;
	setsid();
	join_group(group);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	self = getenv("LAB_MACHINE");
	environ = split_strings(&at, request->envc);
	setenv("LAB_MACHINE", self ? self : "", 1);
	become(request);
	enter_directory(directory);
	run_command(argv);
	return -1;
}

static void serve_client(int sock, const char *group)
{
	int in[2], out[2], err[2], status, code;
	struct request request;
	pid_t command, feeder;
	char *strings;

	if (read_all(sock, &request, sizeof(request)))
		_exit(1);
	strings = calloc(1, (size_t)request.bytes + 1);
	if (!strings || read_all(sock, strings, request.bytes))
		_exit(1);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		_exit(1);
	command = start_command(&request, strings, group, in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	feeder = fork();
	if (!feeder)
		feed_command(sock, in[1], command);
	close(in[1]);
	drain_command(sock, out[0], err[0], command);
	waitpid(command, &status, 0);
	kill(feeder, SIGKILL);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	send_frame(sock, 'x', &code, sizeof(code));
	_exit(0);
}

static void serve(long machine, const char *group)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(AGENT_PORT) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char address[32];

	snprintf(address, sizeof(address), AGENT_NET "%ld", machine);
	inet_pton(AF_INET, address, &at.sin_addr);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 64))
		die("cannot serve: %s", strerror(errno));
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (sock < 0)
			continue;
		if (!fork()) {
			signal(SIGCHLD, SIG_DFL);
			serve_client(sock, group);
		}
		close(sock);
	}
}

int main(int argc, char **argv)
{
	const char *self = getenv("LAB_MACHINE");
	char *end = "";
	long node = argc > 1 ? strtol(argv[1], &end, 10) : 0;

	if (argc == 4 && !strcmp(argv[1], "--serve") && !getuid())
		serve(atol(argv[2]), argv[3]);
	if (argc == 4 && !strcmp(argv[1], "--make") && !getuid()) {
		make_nodes(atol(argv[2]), atol(argv[3]));
		return 0;
	}
	if (argc < 3 || *end || node < 1) {
		fprintf(stderr, "usage: node I CMD...\n");
		return 2;
	}
	if (!self)
		run_in_namespaces(node, argv + 2);
	if (node > 2)
		die("there is no node %ld", node);
	if (node == atol(self)) {
		become_caller();
		restore_library_path();
		run_command(argv + 2);
	}
	run_on_machine(node, argv + 2);
}
