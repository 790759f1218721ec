// What the host programs of the tests share. A program defines `test`, which is called with a context and a queue.

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static cl_program programs[8];
static cl_kernel kernels[8];
static cl_command_queue queues[8];
static int n_kernels, n_queues;

void test(void);

static void need(cl_int code, const char *what) {
    if (code) {
        fprintf(stderr, "%s failed with %d\n", what, code);
        exit(9);
    }
}

// A kernel of a program of its own. It is released at the end.
static cl_kernel build(const char *source, const char *name) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    need(code, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, name, &code);
    need(code, "clCreateKernel");
    programs[n_kernels] = program;
    return kernels[n_kernels++] = kernel;
}

// Another queue, which is released at the end.
static cl_command_queue another_queue(cl_command_queue_properties properties) {
    cl_int code;
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    queues[n_queues] = clCreateCommandQueueWithProperties(context, device, list, &code);
    need(code, "clCreateCommandQueueWithProperties");
    return queues[n_queues++];
}

// A program whose results are not those of a run without checks has a finding more, which no mark expects.
static void expect(int is_so) {
    if (!is_so) {
        clFinish(NULL);
    }
}

int main(void) {
    cl_platform_id platform;
    cl_int code;
    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    need(code, "clCreateContext");
    queue = another_queue(0);
    test();
    for (int i = 0; i < n_queues; i++) {
        clFinish(queues[i]);
        clReleaseCommandQueue(queues[i]);
    }
    for (int i = 0; i < n_kernels; i++) {
        clReleaseKernel(kernels[i]);
        clReleaseProgram(programs[i]);
    }
    clReleaseContext(context);
    return 0;
}
