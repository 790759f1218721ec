#include "setup.h"

// The pointer that the kernel follows stands in memory.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *global *p) { **p = 3; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    int **pp = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof *pp, 0);
    *pp = p;
    clSVMFree(context, p);
    size_t one = 1;
    clSetKernelArgSVMPointer(kernel, 0, pp);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); //~ dangling-pointer
    clFinish(queue);
    clSVMFree(context, pp);
}
