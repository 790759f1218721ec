#include "setup.h"

void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, NULL);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL); //~ api-error
    clReleaseMemObject(buffer);
}
