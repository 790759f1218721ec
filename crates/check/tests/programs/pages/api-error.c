#include "setup.h"
#include "example.h"

void test(void) {
    const char *source = "kernel void k(global int *p) { if (get_global_id(0) < 1000) p[get_global_id(0)] = 1; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "k", NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4000, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    scale(queue, kernel);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
}
