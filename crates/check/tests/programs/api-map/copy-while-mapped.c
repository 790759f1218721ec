#include "setup.h"

void test(void) {
    int data[16] = {0};
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    void *map = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 32, 32, 0, NULL, NULL, NULL);
    clEnqueueCopyBuffer(queue, a, b, 0, 0, 32, 0, NULL, NULL);
    clEnqueueCopyBuffer(queue, a, b, 8, 0, 32, 0, NULL, NULL); //~ api-map
    clEnqueueReadBuffer(queue, a, CL_TRUE, 60, 4, data, 0, NULL, NULL); //~ api-map
    clEnqueueUnmapMemObject(queue, a, map, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
}
