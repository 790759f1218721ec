#include "setup.h"

// One note for a question that is refused at several places.
void test(void) {
    size_t size;
    clGetDeviceInfo(device, 0xffff, 0, NULL, &size); //~ api-error(note)
    for (int i = 0; i < 3; i++)
        clGetDeviceInfo(device, 0xffff, 0, NULL, &size);
    clGetPlatformInfo(NULL, 0xffff, 0, NULL, &size); //~ api-error(note)
}
