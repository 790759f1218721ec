#include "setup.h"

#include <unistd.h>

void test(void) {
    static int data[1024];
    int zero = 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL); //~ api-pending
    usleep(300000);
    data[5] = 7;
    clFinish(queue);
    clReleaseMemObject(buffer);
}
