#include "setup.h"

// A later command of the queue, for which the host waits, ends after the write.
void test(void) {
    static int data[1024], other[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof other, other, 0, NULL, NULL);
    data[0] = 1;
    clFinish(queue);
    clReleaseMemObject(buffer);
}
