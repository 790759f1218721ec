#include "setup.h"

static cl_mem buffer;

// At the end of the program.
void test(void) {
    int data[16] = {0};
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 64, data, NULL); //~ api-leak(note)
    clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL); //~ api-map(note)
}
