#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(int n) {}", "k");
    int n = 1;
    size_t global = 100, local = 0x10000000;
    clSetKernelArg(kernel, 0, sizeof n, &n);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL); //~ api-error
}
