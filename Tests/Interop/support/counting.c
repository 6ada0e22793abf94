// Stands before the C library's allocator and copying in a process that is preloaded with it, and counts in a file that
// another process reads: see counting.py. With `recording` set it keeps the stack of each allocation, too.

#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEPTH = 20, STACKS = 16384 };

struct counts {
  _Atomic uint64_t allocations;
  _Atomic uint64_t bytes;
  _Atomic uint64_t copied;
  _Atomic uint64_t recording;
  _Atomic uint64_t stacks;
  uint64_t frames[STACKS][DEPTH];
};

static struct counts *counts;
static _Thread_local int inside;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("TURNOUT_COUNTS");
  if (name == NULL) return;
  int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) abort();
  close(file);
  // The first use of `backtrace` allocates.
  void *frames[DEPTH];
  backtrace(frames, DEPTH);
  counts = memory;
}

static void count(size_t size) {
  if (counts == NULL || inside) return;
  atomic_fetch_add_explicit(&counts->allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->bytes, size, memory_order_relaxed);
  if (atomic_load_explicit(&counts->recording, memory_order_relaxed) == 0) return;
  uint64_t place = atomic_fetch_add_explicit(&counts->stacks, 1, memory_order_relaxed);
  if (place >= STACKS) return;
  inside = 1;
  void *frames[DEPTH];
  int depth = backtrace(frames, DEPTH);
  for (int at = 0; at < depth; at++) counts->frames[place][at] = (uint64_t)frames[at];
  inside = 0;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  count(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  count(size);
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

static void copied(size_t size) {
  if (counts != NULL) atomic_fetch_add_explicit(&counts->copied, size, memory_order_relaxed);
}

// `rep movsb` and no call: the compiler would make one of this very function out of a loop.
static void forwards(void *target, const void *source, size_t size) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
#else
  volatile uint8_t *to = target;
  for (const uint8_t *from = source; size > 0; size--) *to++ = *from++;
#endif
}

void *memcpy(void *restrict target, const void *restrict source, size_t size) {
  copied(size);
  forwards(target, source, size);
  return target;
}

void *memmove(void *target, const void *source, size_t size) {
  copied(size);
  if ((uintptr_t)target - (uintptr_t)source >= size) {
    forwards(target, source, size);
  } else {
    volatile uint8_t *to = target;
    for (const uint8_t *from = source; size > 0; size--) to[size - 1] = from[size - 1];
  }
  return target;
}
