#include "setup.h"

void test(void) {
    cl_int code;
    const char *source = "kernel void k(void) {}";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code); //~ api-leak(note)
    clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    clCreateKernel(program, "k", &code); //~ api-leak(note)
    clCreateCommandQueueWithProperties(context, device, NULL, &code); //~ api-leak(note)
    clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code); //~ api-leak(note)
    cl_event event = clCreateUserEvent(context, &code); //~ api-leak(note)
    clSetUserEventStatus(event, 0);
    clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0); //~ api-leak(note)
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code); //~ api-leak(note)
}
