#include "setup.h"

static void run(cl_kernel kernel) {
    size_t global = 4;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL); //~ api-error
}

void test(void) {
    run(build("kernel void k(int n) {}", "k"));
}
