#include "setup.h"

void test(void) {
    cl_kernel kernel = build("global int table[16], other[16];"
                             "kernel void k(global int *out) { out[0] = other[0]; table[get_global_id(0) + 1] = 3; }",
                             "k");
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof out, &out);
    size_t size = 16, local = 16;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL); //~ out-of-bounds race-global(note)
    clFinish(queue);
    clReleaseMemObject(out);
}
