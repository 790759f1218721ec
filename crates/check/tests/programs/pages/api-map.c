#include "setup.h"
#include "example.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global float *p) { p[get_global_id(0)] *= 2; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    fill(queue, buffer, kernel, 16);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
