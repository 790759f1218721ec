#include "setup.h"

// A buffer whose storage is shared memory: the kernel reaches the same bytes by both arguments.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *a, global int *b) { a[0] = 5; a[1] = b[0]; }", "k");
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    memset(p, 0, 64);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 64, p, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArgSVMPointer(kernel, 1, p);
    size_t one = 1;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clFinish(queue);
    need(p[1] != 5, "the kernel");
    clReleaseMemObject(buffer);
    clSVMFree(context, p);
}
