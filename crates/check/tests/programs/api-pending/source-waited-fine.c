#include "setup.h"

void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        data[1000] = i;
        clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL);
        clFinish(queue);
    }
    clReleaseMemObject(buffer);
}
