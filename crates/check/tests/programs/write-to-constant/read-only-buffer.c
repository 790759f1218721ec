#include "setup.h"

// The write is reported, and done as without checks.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] += 5; }", "k");
    int data[4] = {1, 2, 3, 4};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof data, data, NULL);
    size_t size = 4;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL); //~ write-to-constant
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    expect(data[0] == 6 && data[3] == 9);
    clReleaseMemObject(buffer);
}
