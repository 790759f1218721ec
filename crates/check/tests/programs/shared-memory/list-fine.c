#include "setup.h"

// Kernels follow pointers that the host has stored.
struct node {
    struct node *next;
    int value;
};

void test(void) {
    cl_kernel kernel = build("struct node { global struct node *next; int value; };"
                             "kernel void sum(global struct node *list, global int *out) {"
                             "    int s = 0;"
                             "    for (; list; list = list->next) s += list->value;"
                             "    *out = s;"
                             "}",
                             "sum");
    struct node *nodes[3], *list = NULL;
    for (int i = 0; i < 3; i++) {
        nodes[i] = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof **nodes, 0);
        *nodes[i] = (struct node){list, i + 1};
        list = nodes[i];
    }
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, NULL);
    clSetKernelArgSVMPointer(kernel, 0, list);
    clSetKernelArg(kernel, 1, sizeof out, &out);
    clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof nodes, nodes);
    size_t one = 1;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    int sum = 0;
    clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL);
    need(sum != 6, "the sum");
    for (int i = 0; i < 3; i++)
        clSVMFree(context, nodes[i]);
    clReleaseMemObject(out);
}
