#include "setup.h"

// The kernel uses the half that is not mapped.
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] = 1; }", "k");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    size_t size = 8;
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 32, 32, 0, NULL, NULL, NULL);
    memset(map, 0, 32);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clReleaseMemObject(buffer);
}
