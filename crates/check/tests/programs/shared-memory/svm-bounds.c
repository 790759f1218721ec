#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0) + 1] = 3; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 64 * sizeof *p, 0);
    int *q = clSVMAlloc(context, CL_MEM_READ_WRITE, 64 * sizeof *p, 0);
    memset(q, 0, 64 * sizeof *q);
    size_t size = 64;
    clSetKernelArgSVMPointer(kernel, 0, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL); //~ out-of-bounds
    clFinish(queue);
    for (int i = 0; i < 64; i++)
        need(q[i], "the neighbour");
    clSVMFree(context, p);
    clSVMFree(context, q);
}
