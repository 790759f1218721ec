#include "setup.h"

// The events of commands, of which nobody takes care.
void test(void) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    int zero = 0;
    for (int i = 0; i < 6; i++) {
        cl_event event;
        clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, 64, 0, NULL, &event); //~ api-leak(warning)
        clWaitForEvents(1, &event);
    }
    clReleaseMemObject(buffer);
}
