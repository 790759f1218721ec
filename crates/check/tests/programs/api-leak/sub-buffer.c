#include "setup.h"

// The buffer is released, and the part of it is not.
void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, NULL);
    cl_buffer_region region = {4096, 64};
    clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL); //~ api-leak(note)
    clReleaseMemObject(buffer);
}
