#include "setup.h"

// A question about what may not be there is a note.
void test(void) {
    char text[4];
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL); //~ api-error(note)
    clGetDeviceInfo(device, CL_DEVICE_NAME, 0, NULL, NULL);
}
