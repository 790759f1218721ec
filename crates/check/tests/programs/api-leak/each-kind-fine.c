#include "setup.h"

void test(void) {
    cl_int code;
    cl_command_queue other = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    cl_sampler sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
    cl_event event = clCreateUserEvent(context, &code);
    void *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    clSetUserEventStatus(event, 0);
    clReleaseCommandQueue(other);
    clReleaseSampler(sampler);
    clReleaseEvent(event);
    clReleaseMemObject(image);
    clEnqueueSVMFree(queue, 1, &memory, NULL, NULL, 0, NULL, NULL);
}
