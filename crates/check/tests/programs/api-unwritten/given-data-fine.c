#include "setup.h"

void test(void) {
    static int data[16], out[16];
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 64, data, NULL);
    clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 64, out, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 64, out, 0, NULL, NULL);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
}
