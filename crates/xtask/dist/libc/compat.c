/* What LLVM and the static C++ library of this machine take from a C library newer than 2.28, in terms of 2.28.
 *
 * Each object that is linked gets its own copy, which is hidden: no other library sees it. Weak references to such
 * functions stay empty, as they would on a machine with the older library.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/* 2.32. The C++ library asks whether it may count references without atomic operations: it may not. */
char __libc_single_threaded = 0;

/* 2.30. */
pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* 2.33. LLVM adds these up for its statistics; the older form has them as `int`. */
struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo old = mallinfo();
#pragma GCC diagnostic pop
    struct mallinfo2 info = {
        .arena = (unsigned)old.arena,       .ordblks = (unsigned)old.ordblks,   .smblks = (unsigned)old.smblks,
        .hblks = (unsigned)old.hblks,       .hblkhd = (unsigned)old.hblkhd,     .usmblks = (unsigned)old.usmblks,
        .fsmblks = (unsigned)old.fsmblks,   .uordblks = (unsigned)old.uordblks, .fordblks = (unsigned)old.fordblks,
        .keepcost = (unsigned)old.keepcost,
    };
    return info;
}

/* 2.36. LLVM makes names of temporary files and seeds of it, and no secrets: without random numbers of the system (a
 * kernel older than 3.17, or one that forbids the call) the clock must do. */
uint32_t arc4random(void) {
    uint32_t value;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        value = (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)now.tv_sec ^ (uint32_t)(uintptr_t)&value;
    }
    return value;
}
