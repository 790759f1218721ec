#include "setup.h"

void test(void) {
    int data[16];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);
    memset(map, 0, 64);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, data, 0, NULL, NULL);
    clReleaseMemObject(buffer);
}
