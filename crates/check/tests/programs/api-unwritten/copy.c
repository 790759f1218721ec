#include "setup.h"

void test(void) {
    int zero = 0;
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clEnqueueCopyBuffer(queue, a, b, 0, 0, 64, 0, NULL, NULL); //~ api-unwritten(warning)
    clEnqueueFillBuffer(queue, a, &zero, sizeof zero, 0, 64, 0, NULL, NULL);
    clEnqueueCopyBuffer(queue, a, b, 0, 0, 64, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
}
