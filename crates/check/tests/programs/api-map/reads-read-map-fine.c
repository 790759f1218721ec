#include "setup.h"

void test(void) {
    int data[16] = {5}, sum = 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL);
    for (int round = 0; round < 3; round++) {
        int *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL);
        for (int i = 0; i < 16; i++)
            sum += map[i];
        clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
        clFinish(queue);
        map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);
        map[3] = sum;
        clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    }
    clFinish(queue);
    clReleaseMemObject(buffer);
}
