#include "setup.h"

void test(void) {
    int data[16] = {0};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    int *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL); //~ api-map
    map[3] = 1;
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
