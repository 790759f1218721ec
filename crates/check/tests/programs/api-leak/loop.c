#include "setup.h"

void test(void) {
    for (int i = 0; i < 10; i++) {
        cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); //~ api-leak(warning)
        clFinish(queue);
        if (i == 5)
            clReleaseMemObject(buffer);
    }
}
