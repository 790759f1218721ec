#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] = 1; }", "k");
    int data[16];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t size = 16;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, data, 0, NULL, NULL);
    clReleaseMemObject(buffer);
}
