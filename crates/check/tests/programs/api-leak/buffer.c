#include "setup.h"

void test(void) {
    clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL); //~ api-leak(note)
}
