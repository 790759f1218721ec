#include "setup.h"

void test(void) {
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, NULL);
    size_t origin[3] = {0}, region[3] = {4, 4, 1}, pitch;
    cl_map_flags flags = CL_MAP_WRITE;
    void *map = clEnqueueMapImage(queue, image, CL_TRUE, flags, origin, region, &pitch, NULL, 0, NULL, NULL, NULL);
    memset(map, 0, 64);
    clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(image);
}
