#include "setup.h"

// The host waits for the first of two commands of different queues, and changes what the second one reads.
void test(void) {
    static int a[1024], b[1024];
    cl_command_queue other = another_queue(0);
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof a, NULL, NULL);
    cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof b, NULL, NULL);
    cl_event written;
    clEnqueueWriteBuffer(queue, x, CL_FALSE, 0, sizeof a, a, 0, NULL, &written);
    clEnqueueWriteBuffer(other, y, CL_FALSE, 0, sizeof b, b, 0, NULL, NULL); //~ api-pending
    clWaitForEvents(1, &written);
    a[0] = b[0] = 1;
    clFinish(other);
    clReleaseEvent(written);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
}
