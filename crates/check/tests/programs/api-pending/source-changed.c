#include "setup.h"

void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL); //~ api-pending
    data[1000] = 1;
    clFinish(queue);
    clReleaseMemObject(buffer);
}
