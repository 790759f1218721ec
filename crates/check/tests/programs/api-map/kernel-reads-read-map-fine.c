#include "setup.h"

// A kernel may read what is mapped for reading.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p, global int *q) { *q = *p; }", "k");
    int data[16] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t one = 1;
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 1, sizeof out, &out);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clFinish(queue);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    clReleaseMemObject(out);
}
