#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

const uint32_t clinux_epoll_exclusive = EPOLLEXCLUSIVE;

int clinux_accept(int descriptor, void *address, unsigned int *length) {
  return accept4(descriptor, (struct sockaddr *)address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_open_pipe(int ends[2], int capacity) {
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return -1;
  // A smaller pipe works too, only in more steps.
  (void)fcntl(ends[1], F_SETPIPE_SZ, capacity);
  return 0;
}

long clinux_splice(int source, int target, size_t count) {
  return splice(source, NULL, target, NULL, count, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

long clinux_descriptor_limit(int most) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return LONG_MAX;
  const rlim_t value = most ? limit.rlim_max : limit.rlim_cur;
  return value > LONG_MAX ? LONG_MAX : (long)value;
}

int clinux_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  if (limit.rlim_cur == limit.rlim_max) return 0;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

int clinux_next_descriptor(int descriptor) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) close(copy);
  return copy;
}

int clinux_available_processors(void) {
  cpu_set_t mask;
  // Fails where the machine has more processors than the mask has bits.
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return (int)sysconf(_SC_NPROCESSORS_ONLN);
  return CPU_COUNT(&mask);
}

void clinux_name_thread(const char *name) {
  char kept[16];
  snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(pthread_self(), kept);
}

int clinux_start_thread(unsigned long *thread, void *(*body)(void *), void *argument) {
  sigset_t mask, previous;
  sigfillset(&mask);
  // A fault belongs to the thread that made it; blocked, it would end the process without a trace.
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&mask, faults[index]);
  // A new thread has its maker's mask from its first instruction on.
  pthread_sigmask(SIG_SETMASK, &mask, &previous);
  pthread_t made;
  const int code = pthread_create(&made, NULL, body, argument);
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
  if (code == 0) *thread = made;
  return code;
}

void clinux_join_thread(unsigned long thread) { pthread_join(thread, NULL); }

void clinux_detach_thread(unsigned long thread) { pthread_detach(thread); }

// One eventfd per watched signal, plus one so that zero means none. The handler only writes to it: nothing else that
// is worth doing is safe in a signal handler.
static _Atomic int watched[65];

static void note(int number) {
  const int saved = errno;
  const int descriptor = atomic_load(&watched[number]) - 1;
  if (descriptor >= 0) {
    const uint64_t one = 1;
    const ssize_t written = write(descriptor, &one, sizeof one);
    (void)written;
  }
  errno = saved;
}

int clinux_watch_signal(int number, int descriptor) {
  if (number <= 0 || number > 64) {
    errno = EINVAL;
    return -1;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  action.sa_handler = descriptor < 0 ? SIG_DFL : note;
  if (descriptor >= 0) atomic_store(&watched[number], descriptor + 1);
  const int result = sigaction(number, &action, NULL);
  if (descriptor < 0 || result != 0) atomic_store(&watched[number], 0);
  return result;
}

int clinux_ignore_signal(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  return sigaction(number, &action, NULL);
}

void clinux_error_text(int code, char *text, size_t size) {
  char scratch[256];
  snprintf(text, size, "%s", strerror_r(code, scratch, sizeof scratch));
}
