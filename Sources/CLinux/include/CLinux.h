#pragma once

// What Linux has and the Glibc module lacks. Functions that need _GNU_SOURCE are wrapped in CLinux.c: defining it in
// this header would change the declarations of modules that are already built.

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

/// EPOLLEXCLUSIVE, which is no constant that Swift can import.
extern const uint32_t clinux_epoll_exclusive;

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC; `address` has room for `*length` bytes, which becomes the used length.
int clinux_accept(int descriptor, void *address, unsigned int *length);

/// A nonblocking pipe that holds up to `capacity` bytes, as far as the kernel grants it. Returns 0, or -1 with errno set.
int clinux_open_pipe(int ends[2], int capacity);

/// Moves up to `count` bytes from one descriptor to another, one of them a pipe, without a copy through the process.
/// Returns the bytes moved, 0 at the end of the source, or -1 with errno set.
long clinux_splice(int source, int target, size_t count);

/// Descriptors that the process may have open at a time; those that it could ask for when `most` is not 0.
long clinux_descriptor_limit(int most);

/// Lets the process have as many descriptors as it may ask for. Returns 0, or -1 with errno set.
int clinux_raise_descriptor_limit(void);

/// The number that the next descriptor would get, tried with a copy of this one; -1 when there is none left.
int clinux_next_descriptor(int descriptor);

/// The processors in the affinity mask of the calling thread; where that cannot be read, those of the machine.
int clinux_available_processors(void);

/// Names the calling thread; the kernel keeps 15 bytes.
void clinux_name_thread(const char *name);

/// Starts a thread that takes no signals but those that a fault of its own raises. Returns 0, or the error's number.
int clinux_start_thread(unsigned long *thread, void *(*body)(void *), void *argument);

/// Waits for a thread to end.
void clinux_join_thread(unsigned long thread);

/// Has a thread that nobody will join give back what it holds when it ends.
void clinux_detach_thread(unsigned long thread);

/// From now on each delivery of the signal adds one to the eventfd; -1 gives the signal its default action back.
/// Returns 0, or -1 with errno set.
int clinux_watch_signal(int number, int eventfd);

/// Ignores a signal for the whole process.
int clinux_ignore_signal(int number);

/// The text of an errno value, into `text`; never fails.
void clinux_error_text(int code, char *text, size_t size);

/// Gives memory that the C library holds free back to the system, all but `pad` bytes of it.
extern int malloc_trim(size_t pad);
