#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { *p += 3; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    *p = 0;
    size_t one = 1;
    clSetKernelArgSVMPointer(kernel, 0, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clFinish(queue);
    clSVMFree(context, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); //~ dangling-pointer
    clFinish(queue);
}
