// SPDX-License-Identifier: GPL-2.0
/*
 * First and only program of the lab in a guest: prepares what a machine has
 * after its start, runs the command, hands its output and its result to the
 * host, and waits to be ended.
 *
 * One static program instead of scripts: in User Mode Linux and in an emulated
 * machine starting a process is what costs most.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define CHECKOUT	"/mnt/lio-iser"
#define BUILD		"/mnt/lio-iser-build"
#define CONTROL		"/.lab/control"

static char cmdline[4096];

/* Says it on the console: the host shows it when there is no result. */
static void fail(const char *format, ...)
{
	char text[512];
	va_list arguments;
	int fd;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fd = open("/dev/kmsg", O_WRONLY);
	if (fd >= 0) {
		dprintf(fd, "<0>lab: %s: %s\n", text, strerror(errno));
		close(fd);
	}
	exit(1);
}

static const char *parameter(const char *name)
{
	static char value[1024];
	size_t length = strlen(name);
	const char *at = cmdline;

	while ((at = strstr(at, name))) {
		if ((at == cmdline || at[-1] == ' ') && at[length] == '=') {
			at += length + 1;
			snprintf(value, sizeof(value), "%.*s",
				 (int)strcspn(at, " \n"), at);
			return value;
		}
		at += length;
	}
	return "";
}

static void read_cmdline(void)
{
	int fd = open("/proc/cmdline", O_RDONLY);

	if (fd < 0 || read(fd, cmdline, sizeof(cmdline) - 1) < 0)
		fail("/proc/cmdline");
	close(fd);
}

static void mount_or_fail(const char *type, const char *source,
			  const char *target, unsigned long flags,
			  const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data) && errno != EBUSY)
		fail("mount %s on %s", source, target);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		fail("module %s", path);
	close(fd);
}

/* The names sort in the order of their dependencies. */
static void load_modules(void)
{
	glob_t found;
	size_t i;

	if (glob("/modules/*", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		load_module(found.gl_pathv[i]);
	globfree(&found);
}

/* Devices may come up a little after their drivers; returns the first name. */
static const char *await(const char *pattern)
{
	glob_t found;
	int i;

	for (i = 0; i < 1000; i++) {
		if (!glob(pattern, 0, NULL, &found))
			return found.gl_pathv[0];
		usleep(10000);
	}
	errno = ENODEV;
	fail("no %s", pattern);
	return NULL;
}

/* A writable layer over the read-only root and the kernel's modules. */
static void mount_root(int uml)
{
	const char *root = uml ? "/dev/ubda" : "/dev/vda";
	const char *modules = uml ? "/dev/ubdb" : "/dev/vdb";

	await(root);
	await(modules);
	mount_or_fail("tmpfs", "layers", "/layers", 0, "mode=755");
	mount_or_fail("ext4", root, "/layers/root", MS_RDONLY, NULL);
	mount_or_fail("ext4", modules, "/layers/modules", MS_RDONLY, NULL);
	mkdir("/layers/upper", 0755);
	mkdir("/layers/work", 0755);
	mount_or_fail("overlay", "overlay", "/layers/merged", 0,
		      "lowerdir=/layers/modules:/layers/root,"
		      "upperdir=/layers/upper,workdir=/layers/work");
	if (chdir("/layers/merged"))
		fail("/layers/merged");
}

static void share(int uml, const char *name, const char *target,
		  const char *option)
{
	char what[64], data[128];

	snprintf(what, sizeof(what), "lab.%s", name);
	if (!*parameter(what))
		return;
	if (uml) {
		mount_or_fail("hostfs", name, target, 0, parameter(what));
		return;
	}
	snprintf(data, sizeof(data),
		 "trans=virtio,version=9p2000.L,msize=512000%s", option);
	mount_or_fail("9p", name, target, 0, data);
}

static void enter_root(void)
{
	if (mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("entering the root");
}

static void mount_system(void)
{
	mount_or_fail("proc", "proc", "/proc", 0, NULL);
	mount_or_fail("sysfs", "sys", "/sys", 0, NULL);
	mount_or_fail("devtmpfs", "dev", "/dev", 0, "mode=755");
	mount_or_fail("devpts", "devpts", "/dev/pts", 0, "mode=600,ptmxmode=666");
	mount_or_fail("tmpfs", "shm", "/dev/shm", 0, "mode=1777");
	mount_or_fail("tmpfs", "tmp", "/tmp", 0, "mode=1777");
	mount_or_fail("tmpfs", "run", "/run", 0, "mode=755");
	mount_or_fail("configfs", "configfs", "/sys/kernel/config", 0, NULL);
	mount_or_fail("debugfs", "debugfs", "/sys/kernel/debug", 0, NULL);
	mkdir("/run/lock", 01777);
	mkdir("/run/lock/iscsi", 0755);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("fd/0", "/dev/stdin");
	symlink("fd/1", "/dev/stdout");
	symlink("fd/2", "/dev/stderr");
}

static void bring_up(const char *name, const char *address)
{
	struct ifreq request = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(request.ifr_name, name);
	if (ioctl(fd, SIOCGIFFLAGS, &request)) {
		close(fd);
		return;
	}
	request.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &request))
		fail("%s up", name);
	if (address) {
		in->sin_family = AF_INET;
		inet_pton(AF_INET, address, &in->sin_addr);
		if (ioctl(fd, SIOCSIFADDR, &request))
			fail("%s address", name);
		inet_pton(AF_INET, "255.255.255.0", &in->sin_addr);
		ioctl(fd, SIOCSIFNETMASK, &request);
	}
	close(fd);
}

static void copy(const char *from, const char *to)
{
	static char data[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t count = -1;

	if (in < 0 || out < 0)
		fail("copying %s", from);
	while ((count = read(in, data, sizeof(data))) > 0)
		if (write(out, data, count) != count)
			fail("writing %s", to);
	if (count < 0)
		fail("reading %s", from);
	close(in);
	close(out);
}

/*
 * The module under test, where modprobe looks for it.  The host has made the
 * index, which takes long in an emulated machine.
 */
static void install_module(void)
{
	char folder[256], to[512];
	struct utsname system;
	glob_t found;
	size_t i;

	if (glob(CONTROL "/module-index/*", 0, NULL, &found))
		return;
	uname(&system);
	snprintf(folder, sizeof(folder), "/lib/modules/%s", system.release);
	for (i = 0; i < found.gl_pathc; i++) {
		snprintf(to, sizeof(to), "%s%s", folder,
			 strrchr(found.gl_pathv[i], '/'));
		copy(found.gl_pathv[i], to);
	}
	globfree(&found);
	snprintf(to, sizeof(to), "%s/updates", folder);
	mkdir(to, 0755);
	snprintf(to, sizeof(to), "%s/updates/lio_iser.ko", folder);
	copy(BUILD "/lio_iser.ko", to);
}

static int open_output(int uml)
{
	const char *path = uml ? await("/dev/ttyS0") : await("/dev/vport*p1");
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	struct termios settings;

	if (fd < 0)
		fail("%s", path);
	if (!tcgetattr(fd, &settings)) {
		cfmakeraw(&settings);
		tcsetattr(fd, TCSANOW, &settings);
	}
	return fd;
}

static pid_t start_command(int output)
{
	sigset_t none;
	pid_t pid = fork();
	int in;

	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	in = open("/dev/null", O_RDONLY);
	dup2(in, 0);
	dup2(output, 1);
	dup2(output, 2);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
	       "/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "dumb", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("OUT", "/out", 1);
	if (chdir(CHECKOUT))
		_exit(126);
	execl("/bin/bash", "bash", CONTROL "/command", NULL);
	_exit(127);
}

static int listen_for_bus(void)
{
	struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/dbus/system_bus_socket",
	};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	mkdir("/run/dbus", 0755);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(address.sun_path, 0666) || listen(fd, 16))
		fail("message bus");
	return fd;
}

/*
 * targetcli asks the system's message bus who else offers backstores.  The
 * bus starts when somebody connects, as systemd would do it.
 */
static void start_bus(int listener)
{
	sigset_t none;
	char pid[16];

	if (fork())
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(listener, 3);
	if (listener == 3)
		fcntl(3, F_SETFD, 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	execl("/usr/bin/dbus-daemon", "dbus-daemon", "--system",
	      "--address=systemd:", "--nofork", "--nopidfile", NULL);
	_exit(127);
}

/* Returns whether there was something. */
static int relay(int from, int to)
{
	static char data[65536];
	ssize_t count = read(from, data, sizeof(data)), done = 0, n;

	if (count <= 0)
		return 0;
	while (done < count) {
		n = write(to, data + done, count - done);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			fail("output");
		if (n > 0)
			done += n;
	}
	return 1;
}

/* Reaps whatever has ended; returns the status of the command, or -1. */
static int reap(pid_t command)
{
	int status, result = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					       WEXITSTATUS(status);
	}
	return result;
}

/*
 * Does not wait for the end of the output: every daemon that the command has
 * left behind may have it open.
 */
static int run_command(int output)
{
	struct pollfd events[3] = { 0 };
	int pipes[2], result = -1;
	struct signalfd_siginfo info;
	sigset_t child;
	pid_t command;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (pipe2(pipes, O_CLOEXEC))
		fail("pipe");
	events[2].fd = listen_for_bus();
	command = start_command(pipes[1]);
	if (command < 0)
		fail("fork");
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	events[0].fd = pipes[0];
	events[1].fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	events[0].events = events[1].events = events[2].events = POLLIN;
	while (result < 0) {
		poll(events, 3, -1);
		if (events[2].revents) {
			start_bus(events[2].fd);
			close(events[2].fd);
			events[2].fd = -1;
			events[2].revents = 0;
		}
		relay(pipes[0], output);
		while (read(events[1].fd, &info, sizeof(info)) > 0)
			;
		result = reap(command);
	}
	while (relay(pipes[0], output))
		;
	tcdrain(output);
	return result;
}

static void leave_result(int result)
{
	int fd = open("/out", O_RDONLY | O_DIRECTORY);

	if (*parameter("lab.out"))
		syncfs(fd);
	close(fd);
	fd = open(CONTROL "/result.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || dprintf(fd, "%d\n", result) < 0 || fsync(fd))
		fail("result");
	close(fd);
	if (rename(CONTROL "/result.new", CONTROL "/result"))
		fail("result");
}

int main(void)
{
	int uml, output;

	/* The kernel does not mount it in every guest. */
	mount_or_fail("devtmpfs", "dev", "/dev", 0, "mode=755");
	mount_or_fail("proc", "proc", "/proc", 0, NULL);
	read_cmdline();
	umount("/proc");
	uml = !strcmp(parameter("lab.kind"), "uml");
	load_modules();
	mount_root(uml);
	share(uml, "checkout", "." CHECKOUT, ",cache=loose");
	share(uml, "build", "." BUILD, "");
	share(uml, "control", "." CONTROL, "");
	share(uml, "out", "./out", ",cache=mmap");
	enter_root();
	mount_system();
	sethostname("lab", 3);
	bring_up("lo", NULL);
	bring_up("eth0", "10.0.2.15");
	install_module();
	output = open_output(uml);
	leave_result(run_command(output));
	/* The host ends the guest now. */
	for (;;) {
		pause();
		reap(0);
	}
}
