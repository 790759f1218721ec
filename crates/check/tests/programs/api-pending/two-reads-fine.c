#include "setup.h"

// Two commands of different queues write different parts; then one queue reads and writes one place, in its order.
void test(void) {
    static int data[1024];
    int zero = 0;
    cl_command_queue other = another_queue(0);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof data, 0, NULL, NULL);
    clFinish(queue);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 2048, data, 0, NULL, NULL);
    clEnqueueReadBuffer(other, buffer, CL_FALSE, 0, 2048, data + 512, 0, NULL, NULL);
    clFinish(queue);
    clFinish(other);
    data[0] = 7;
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 2048, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 2048, 2048, data, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
