#include "setup.h"

// The host may read the buffer, and the kernel may write all of it.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] = 7; }", "k");
    int data[4];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof data, NULL, NULL);
    size_t size = 4;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    expect(data[0] == 7 && data[3] == 7);
    clReleaseMemObject(buffer);
}
