#include "setup.h"

// More commands than are remembered, for which the host waits at once.
void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    for (int i = 0; i < 600; i++)
        clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL);
    clFinish(queue);
    data[0] = 1;
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
