#include "setup.h"

// One release is missing.
void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); //~ api-leak(note)
    clRetainMemObject(buffer);
    clReleaseMemObject(buffer);
}
