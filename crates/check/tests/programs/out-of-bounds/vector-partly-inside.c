#include "setup.h"

// The vector begins before its buffer, or ends behind it. The components inside are read and written, also if the buffer
// is read-only, which is not all that is wrong then.
void test(void) {
    cl_kernel kernel = build("kernel void k(global const int *in, global int *out, int at) {\n"
                             "    vstore4(vload4(0, in + at), 0, out + at);\n"
                             "}\n",
                             "k");
    int data[6] = {1, 2, 3, 4, 5, 6}, zeros[6] = {0};
    cl_mem in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, NULL);
    size_t one = 1;
    clSetKernelArg(kernel, 0, sizeof in, &in);
    clSetKernelArg(kernel, 1, sizeof out, &out);
    int at = 4;
    clSetKernelArg(kernel, 2, sizeof at, &at);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); //~ out-of-bounds
    at = -3;
    clSetKernelArg(kernel, 2, sizeof at, &at);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    expect(data[0] == 1 && data[1] == 0 && data[3] == 0 && data[4] == 5 && data[5] == 6);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}
