#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] *= 3; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64 * sizeof *p, 0);
    for (int i = 0; i < 64; i++)
        p[i] = i;
    size_t size = 64;
    clSetKernelArgSVMPointer(kernel, 0, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    for (int i = 0; i < 64; i++)
        need(p[i] != 3 * i, "the kernel");
    clSVMFree(context, p);
}
