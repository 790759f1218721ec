#include "setup.h"
#include "example.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global float *p) { p[get_global_id(0)] *= 2; }", "k");
    float x[16] = {0};
    for (int i = 0; i < 5; i++)
        scale(context, queue, kernel, x, 16);
}
