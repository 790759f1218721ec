#include "setup.h"

// An atomic operation reads what it changes.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { atomic_inc(p); }", "k");
    int zero = 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR, sizeof zero, &zero, NULL);
    size_t size = 4;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL); //~ read-of-write-only
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
    expect(zero == 4);
    clReleaseMemObject(buffer);
}
