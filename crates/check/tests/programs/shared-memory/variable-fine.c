#include "setup.h"

// Variables of the program keep their values, and pointers to them, from launch to launch.
void test(void) {
    const char *source = "global int count = 40;"
                         "global int *where = &count;"
                         "constant int step = 1;"
                         "kernel void add(void) { *where += step; }"
                         "kernel void get(global int *out) { *out = count; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    need(clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL), "clBuildProgram");
    cl_kernel add = clCreateKernel(program, "add", NULL), get = clCreateKernel(program, "get", NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, NULL);
    size_t one = 1;
    clEnqueueNDRangeKernel(queue, add, 1, NULL, &one, NULL, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, add, 1, NULL, &one, NULL, 0, NULL, NULL);
    clSetKernelArg(get, 0, sizeof out, &out);
    clEnqueueNDRangeKernel(queue, get, 1, NULL, &one, NULL, 0, NULL, NULL);
    int count = 0;
    clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof count, &count, 0, NULL, NULL);
    need(count != 42, "the count");
    clReleaseMemObject(out);
    clReleaseKernel(add);
    clReleaseKernel(get);
    clReleaseProgram(program);
}
