#include "setup.h"

// What is written through a part is written in the whole, and the other way round.
void test(void) {
    static int data[2048];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 8192, NULL, NULL);
    cl_buffer_region region = {4096, 4096};
    cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, 2048, data, 0, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 6144, 2048, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4096, 2048, data, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 4096, data, 0, NULL, NULL);
    clReleaseMemObject(part);
    clReleaseMemObject(buffer);
}
