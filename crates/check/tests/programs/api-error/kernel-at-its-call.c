#include "setup.h"

// A finding in a kernel says where the launch was enqueued.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0) + 1] = 0; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 16, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    size_t few = 3, all = 4;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &few, NULL, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL); //~ out-of-bounds
    clFinish(queue);
    clReleaseMemObject(buffer);
}
