#include "setup.h"

void test(void) {
    int data[16] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 32, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 32, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 16, 32, data, 0, NULL, NULL); //~ api-unwritten(warning)
    clReleaseMemObject(buffer);
}
