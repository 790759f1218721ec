#include "setup.h"

void test(void) {
    cl_kernel kernel = build("global int count; kernel void k(void) { count++; }", "k");
    size_t size = 16, local = 1;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL); //~ race-groups
    clFinish(queue);
}
