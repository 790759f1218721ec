#include "setup.h"

void test(void) {
    cl_kernel fill = build("kernel void fill(global int *p) { p[get_global_id(0)] = 1; }", "fill");
    cl_kernel twice = build("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }", "twice");
    int zeros[64] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 256, zeros, NULL);
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(twice, 0, sizeof buffer, &buffer);
    size_t size = 64;
    // Two parts of one buffer.
    cl_command_queue other = another_queue(0);
    cl_mem whole = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, NULL), parts[2];
    for (size_t i = 0; i < 2; i++)
        parts[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){4096 * i, 4096}, NULL);
    clEnqueueFillBuffer(queue, parts[0], zeros, 4, 0, 4096, 0, NULL, NULL);
    clEnqueueFillBuffer(other, parts[1], zeros, 4, 0, 4096, 0, NULL, NULL);
    clFinish(queue);
    clFinish(other);
    clReleaseMemObject(parts[0]);
    clReleaseMemObject(parts[1]);
    clReleaseMemObject(whole);
    clReleaseMemObject(buffer);
}
