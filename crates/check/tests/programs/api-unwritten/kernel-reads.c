#include "setup.h"

// The sum counts on zeros.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[0] += 1; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t one = 1;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); //~ uninitialised
    clFinish(queue);
    clReleaseMemObject(buffer);
}
