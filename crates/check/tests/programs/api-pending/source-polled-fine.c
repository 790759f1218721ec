#include "setup.h"

// The host asks for the status until the command has ended.
void test(void) {
    static int data[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    cl_event written;
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, &written);
    cl_int status = CL_QUEUED;
    while (status > 0)
        clGetEventInfo(written, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    data[0] = 1;
    clFinish(queue);
    clReleaseEvent(written);
    clReleaseMemObject(buffer);
}
