#include "setup.h"

#include <unistd.h>

// The command has ended in the meantime, and the host does not know it.
void test(void) {
    size_t size = 1 << 22;
    char *data = calloc(size, 1);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, NULL);
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, data, 0, NULL, NULL); //~ api-pending
    usleep(300000);
    free(data);
    clFinish(queue);
    clReleaseMemObject(buffer);
}
