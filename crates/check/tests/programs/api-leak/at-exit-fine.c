#include "setup.h"

// What is registered before the first call of OpenCL runs after what is registered later.
static cl_mem buffer;

static void release(void) {
    clReleaseMemObject(buffer);
}

__attribute__((constructor)) static void begin(void) {
    atexit(release);
}

void test(void) {
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
}
