#include "setup.h"

// The rows of two boxes of the host's memory lie between each other.
void test(void) {
    static int data[1024];
    int zero = 0;
    cl_command_queue other = another_queue(0);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof data, 0, NULL, NULL);
    clFinish(queue);
    size_t left[3] = {0, 0, 0}, right[3] = {64, 0, 0}, region[3] = {64, 32, 1};
    clEnqueueReadBufferRect(queue, buffer, CL_FALSE, left, left, region, 128, 0, 128, 0, data, 0, NULL, NULL);
    clEnqueueReadBufferRect(other, buffer, CL_FALSE, right, right, region, 128, 0, 128, 0, data, 0, NULL, NULL);
    clFinish(queue);
    clFinish(other);
    clReleaseMemObject(buffer);
}
