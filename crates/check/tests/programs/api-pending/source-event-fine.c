#include "setup.h"

void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    cl_event written;
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, &written);
    clWaitForEvents(1, &written);
    data[0] = 1;
    clFinish(queue);
    clReleaseEvent(written);
    clReleaseMemObject(buffer);
}
