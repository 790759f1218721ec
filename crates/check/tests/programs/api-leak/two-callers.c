#include "setup.h"

// Two calls of one function are two places, each of which leaks few.
static cl_mem make(size_t size) {
    return clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, NULL); //~ api-leak(note)
}

void test(void) {
    make(64);
    make(128);
    make(256);
    clReleaseMemObject(make(64));
    make(512);
}
