#include "setup.h"

// The host changes what the command does not read.
void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 2048, data, 0, NULL, NULL);
    data[512] = 1;
    clFinish(queue);
    clReleaseMemObject(buffer);
}
