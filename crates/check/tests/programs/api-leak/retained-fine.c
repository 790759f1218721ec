#include "setup.h"

void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clRetainMemObject(buffer);
    clReleaseMemObject(buffer);
    clReleaseMemObject(buffer);
}
