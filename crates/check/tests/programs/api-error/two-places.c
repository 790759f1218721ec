#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(int n) {}", "k");
    int n = 1;
    clSetKernelArg(kernel, 0, 2, &n); //~ api-error
    for (int i = 0; i < 3; i++)
        clSetKernelArg(kernel, 1, sizeof n, &n); //~ api-error
}
