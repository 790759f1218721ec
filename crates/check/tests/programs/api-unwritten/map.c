#include "setup.h"

void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    cl_map_flags flags = CL_MAP_READ;
    void *map = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, 64, 0, NULL, 0, 0); //~ api-unwritten(warning)
    clEnqueueUnmapMemObject(queue, buffer, map, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
