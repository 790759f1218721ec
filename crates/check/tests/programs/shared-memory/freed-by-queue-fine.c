#include "setup.h"

// The queue frees the memory behind the launch.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { *p = 3; }", "k");
    size_t one = 1;
    for (int i = 0; i < 3; i++) {
        void *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
        clSetKernelArgSVMPointer(kernel, 0, p);
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
        clEnqueueSVMFree(queue, 1, &p, NULL, NULL, 0, NULL, NULL);
    }
    clFinish(queue);
}
