#include "setup.h"

void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] = 1; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t size = 16;
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);
    memset(map, 0, 64);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
