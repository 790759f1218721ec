#include "setup.h"

void test(void) {
    cl_kernel fill = build("kernel void fill(global int *p) { p[get_global_id(0)] = 1; }", "fill");
    cl_kernel twice = build("kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }", "twice");
    int zeros[64] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 256, zeros, NULL);
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(twice, 0, sizeof buffer, &buffer);
    size_t size = 64;
    cl_command_queue other = another_queue(0);
    int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 0);
    clSetKernelArgSVMPointer(fill, 0, p);
    clEnqueueNDRangeKernel(queue, fill, 1, NULL, &size, NULL, 0, NULL, NULL); //~ race-launches
    clEnqueueSVMMemFill(other, p + 8, zeros, 4, 16, 0, NULL, NULL); //~ race-launches
    clFinish(queue);
    clFinish(other);
    clSVMFree(context, p);
    clReleaseMemObject(buffer);
}
