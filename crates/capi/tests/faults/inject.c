/* Makes allocations of one library fail: preloaded into a test, which says when. Malloc and its like, mappings and the
 * creation of threads count if the driver's code calls them; all others are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { MEMORY = 1, MAPPINGS = 2, THREADS = 4 };

static uintptr_t low, high;
static atomic_long calls, first, last;
static atomic_int kinds;

static int range(struct dl_phdr_info *info, size_t size, void *name) {
    (void)size;
    if (!strstr(info->dlpi_name, name)) return 0;
    low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (begin < low) low = begin;
        if (begin + part->p_memsz > high) high = begin + part->p_memsz;
    }
    return 1;
}

/* The calls number `from` to `to` of the library whose path contains `name`, counted from now, fail. */
int faults_arm(const char *name, int which, long from, long to) {
    if (!dl_iterate_phdr(range, (void *)name)) return -1;
    calls = 0, first = from, last = to, kinds = which;
    return 0;
}

/* From now on nothing fails. Returns the number of calls. */
long faults_disarm(void) {
    kinds = 0;
    return calls;
}

static int fails(int kind, void *caller) {
    if (!(kinds & kind) || (uintptr_t)caller < low || (uintptr_t)caller >= high) return 0;
    long number = ++calls;
    return number >= first && number <= last;
}

#define CALLER __builtin_return_address(0)
#define FAIL_IF(kind, result) do { if (fails(kind, CALLER)) { errno = ENOMEM; return result; } } while (0)

void *malloc(size_t size) { FAIL_IF(MEMORY, NULL); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { FAIL_IF(MEMORY, NULL); return __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { FAIL_IF(MEMORY, NULL); return __libc_realloc(block, size); }
void *aligned_alloc(size_t align, size_t size) { FAIL_IF(MEMORY, NULL); return __libc_memalign(align, size); }

/* operator new of C++ that returns null, which the driver calls for LLVM. */
void *_ZnwmRKSt9nothrow_t(size_t size, const void *no) { (void)no; FAIL_IF(MEMORY, NULL); return __libc_malloc(size); }
void *_ZnamRKSt9nothrow_t(size_t size, const void *no) { (void)no; FAIL_IF(MEMORY, NULL); return __libc_malloc(size); }

int posix_memalign(void **block, size_t align, size_t size) {
    FAIL_IF(MEMORY, ENOMEM);
    void *place = __libc_memalign(align, size);
    if (!place) return ENOMEM;
    *block = place;
    return 0;
}

void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset) {
    FAIL_IF(MAPPINGS, MAP_FAILED);
    return (void *)syscall(SYS_mmap, place, size, protection, flags, file, offset);
}

void *mmap64(void *place, size_t size, int protection, int flags, int file, off_t offset) {
    FAIL_IF(MAPPINGS, MAP_FAILED);
    return (void *)syscall(SYS_mmap, place, size, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    FAIL_IF(THREADS, EAGAIN);
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, start, argument);
}
