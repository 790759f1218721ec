#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[0] += 1; }", "k");
    int zero = 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t one = 1;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL);
    for (int i = 0; i < 3; i++)
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
