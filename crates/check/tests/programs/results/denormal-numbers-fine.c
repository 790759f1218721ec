#include "setup.h"

// What the options of the program say of denormal numbers holds in checked launches, too.
static float product(const char *options) {
    const char *source = "kernel void k(global float *p) { p[1] = p[0] * 0.5f; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    need(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "k", NULL);
    float data[2] = {2e-39f, 1};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, NULL);
    size_t one = 1;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return data[1];
}

void test(void) {
    expect(product("") == 1e-39f);
    expect(product("-cl-denorms-are-zero") == 0);
}
