#include "setup.h"
#include "example.h"

void test(void) {
    cl_kernel fill = build("kernel void fill(global int *p) { p[get_global_id(0)] = 1; }", "fill");
    cl_kernel sum = build("kernel void sum(global int *p) { if (get_global_id(0) == 0) p[0] += p[1]; }", "sum");
    static int zeros[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4096, zeros, NULL);
    clSetKernelArg(fill, 0, sizeof buffer, &buffer);
    clSetKernelArg(sum, 0, sizeof buffer, &buffer);
    run(another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), fill, sum);
    clReleaseMemObject(buffer);
}
