#include "setup.h"

// A pointer into the middle may be used in both directions.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { int i = get_global_id(0); p[i - 4] = p[i + 4]; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 12 * sizeof *p, 0);
    memset(p, 1, 12 * sizeof *p);
    size_t size = 4;
    clSetKernelArgSVMPointer(kernel, 0, p + 4);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    clSVMFree(context, p);
}
