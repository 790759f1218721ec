#include "setup.h"

// What comes from an image, or row by row.
void test(void) {
    static float data[64];
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 512, NULL, NULL);
    size_t zero[3] = {0}, region[3] = {4, 4, 1}, rect[3] = {64, 4, 1}, behind[3] = {0, 4, 0};
    clEnqueueWriteImage(queue, image, CL_TRUE, zero, region, 0, 0, data, 0, NULL, NULL);
    clEnqueueCopyImageToBuffer(queue, image, buffer, zero, region, 0, 0, NULL, NULL);
    clEnqueueCopyBufferRect(queue, buffer, buffer, zero, behind, rect, 64, 0, 64, 0, 0, NULL, NULL);
    for (int half = 0; half < 2; half++)
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 256 * half, 256, data, 0, NULL, NULL);
    clReleaseMemObject(image);
    clReleaseMemObject(buffer);
}
