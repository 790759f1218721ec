#include "setup.h"

static void CL_CALLBACK write(void *args) {
    memset(*(void **)args, 0, 64);
}

// What a function of the program writes is not known.
void test(void) {
    int data[16];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    void *args = NULL;
    const void *place = &args;
    need(clEnqueueNativeKernel(queue, write, &args, sizeof args, 1, &buffer, &place, 0, NULL, NULL), "the function");
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, data, 0, NULL, NULL);
    clReleaseMemObject(buffer);
}
