#include "setup.h"

static volatile int is_gone;

static void CL_CALLBACK gone(cl_mem buffer, void *user) {
    is_gone = 1;
}

// A command whose wait list fails keeps nothing alive.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { *p = 1; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_event gate = clCreateUserEvent(context, NULL);
    size_t one = 1;
    clSetMemObjectDestructorCallback(buffer, gone, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &gate, NULL);
    clSetUserEventStatus(gate, -1);
    clFinish(queue);
    clReleaseEvent(gate);
    clReleaseMemObject(buffer);
    for (long i = 0; i < 2000000000 && !is_gone; i++)
        ;
    need(!is_gone, "the release");
}
