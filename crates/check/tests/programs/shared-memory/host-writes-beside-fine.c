#include "setup.h"

// Fine-grain memory: the host writes its half while launches write theirs.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)]++; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 2000 * sizeof *p, 0);
    memset(p, 0, 2000 * sizeof *p);
    size_t size = 1000;
    clSetKernelArgSVMPointer(kernel, 0, p);
    for (int i = 0; i < 4; i++)
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    for (int round = 0; round < 100; round++)
        for (int i = 1000; i < 2000; i++)
            p[i]++;
    clFinish(queue);
    for (int i = 0; i < 2000; i++)
        need(p[i] != (i < 1000 ? 4 : 100), "the sum");
    clSVMFree(context, p);
}
