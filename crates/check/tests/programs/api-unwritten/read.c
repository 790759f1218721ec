#include "setup.h"

void test(void) {
    int data[16];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, data, 0, NULL, NULL); //~ api-unwritten(warning)
    clReleaseMemObject(buffer);
}
