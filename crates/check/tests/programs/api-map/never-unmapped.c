#include "setup.h"

void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_map_flags flags = CL_MAP_WRITE;
    int *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, 64, 0, NULL, NULL, NULL); //~ api-map(warning)
    map[3] = 1;
    clReleaseMemObject(buffer);
}
