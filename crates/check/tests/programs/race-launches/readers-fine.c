#include "setup.h"

void test(void) {
    cl_kernel fill = build("kernel void fill(global int *p) { p[get_global_id(0)] = 1; }", "fill");
    cl_kernel twice = build("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }", "twice");
    int zeros[64] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 256, zeros, NULL);
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(twice, 0, sizeof buffer, &buffer);
    size_t size = 64;
    // Kernels that only read may run at the same time, whatever their parameters allow.
    cl_command_queue other = another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_kernel sum = build("kernel void sum(global int *p, global int *q) { *q = p[0] + p[1]; }", "sum");
    cl_mem out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, NULL);
        clSetKernelArg(sum, 0, sizeof buffer, &buffer);
        clSetKernelArg(sum, 1, sizeof *out, &out[i]);
        clEnqueueNDRangeKernel(other, sum, 1, NULL, (size_t[]){1}, NULL, 0, NULL, NULL);
    }
    clFinish(other);
    clReleaseMemObject(out[0]);
    clReleaseMemObject(out[1]);
    clReleaseMemObject(buffer);
}
