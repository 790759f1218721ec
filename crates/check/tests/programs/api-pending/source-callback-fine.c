#include "setup.h"

// The callback of the event says that the memory is the host's again.
static int data[1024];
static volatile int is_done;

static void CL_CALLBACK done(cl_event event, cl_int status, void *user) {
    data[0] = 1;
    is_done = 1;
}

void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
    cl_event written;
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, 0, NULL, &written);
    clSetEventCallback(written, CL_COMPLETE, done, NULL);
    while (!is_done)
        ;
    clFinish(queue);
    clReleaseEvent(written);
    clReleaseMemObject(buffer);
}
