#include "setup.h"

// The queue keeps its context, which the program has released.
void test(void) {
    cl_int code;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_command_queue on_other = clCreateCommandQueueWithProperties(other, device, NULL, &code);
    clReleaseContext(other);
    clFinish(on_other);
    clReleaseCommandQueue(on_other);
}
