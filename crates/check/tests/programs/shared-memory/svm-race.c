#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[0] = get_global_id(0); }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    size_t size = 16, local = 1;
    clSetKernelArgSVMPointer(kernel, 0, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL); //~ race-groups
    clFinish(queue);
    clSVMFree(context, p);
}
