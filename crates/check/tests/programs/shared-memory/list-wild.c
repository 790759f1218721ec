#include "setup.h"

struct node {
    struct node *next;
    int value;
};

void test(void) {
    cl_kernel kernel = build("struct node { global struct node *next; int value; };"
                             "kernel void last(global struct node *list, global int *out) {"
                             "    while (list->next) list = list->next;"
                             "    *out = list->value;"
                             "}",
                             "last");
    struct node *node = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof *node, 0);
    *node = (struct node){(struct node *)0x1000, 1};
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, NULL);
    clSetKernelArgSVMPointer(kernel, 0, node);
    clSetKernelArg(kernel, 1, sizeof out, &out);
    size_t one = 1;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL); //~ invalid-pointer
    clFinish(queue);
    clSVMFree(context, node);
    clReleaseMemObject(out);
}
