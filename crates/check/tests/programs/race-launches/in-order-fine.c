#include "setup.h"

void test(void) {
    cl_kernel fill = build("kernel void fill(global int *p) { p[get_global_id(0)] = 1; }", "fill");
    cl_kernel twice = build("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }", "twice");
    int zeros[64] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 256, zeros, NULL);
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(twice, 0, sizeof buffer, &buffer);
    size_t size = 64;
    clEnqueueNDRangeKernel(queue, fill, 1, NULL, &size, NULL, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, twice, 1, NULL, &size, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, zeros, 0, NULL, NULL);
    clReleaseMemObject(buffer);
}
