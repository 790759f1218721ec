#include "setup.h"
#include "example.h"

void test(void) {
    static float x[1024] = {1};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof x, NULL, NULL);
    upload(queue, buffer, x, 1024);
    clReleaseMemObject(buffer);
}
