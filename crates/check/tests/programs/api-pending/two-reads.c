#include "setup.h"

// Two commands of different queues write the same memory of the host.
void test(void) {
    static int data[1024];
    int zero = 0;
    cl_command_queue other = another_queue(0);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof data, 0, NULL, NULL);
    clFinish(queue);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 2048, data, 0, NULL, NULL); //~ api-pending
    clEnqueueReadBuffer(other, buffer, CL_FALSE, 0, 2048, data + 256, 0, NULL, NULL); //~ api-pending
    clFinish(queue);
    clFinish(other);
    clReleaseMemObject(buffer);
}
