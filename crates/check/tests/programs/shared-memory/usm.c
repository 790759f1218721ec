#include "setup.h"
#include <CL/cl_ext.h>

// Unified shared memory takes the same way.
void test(void) {
    cl_platform_id platform;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clSharedMemAllocINTEL_fn alloc = clGetExtensionFunctionAddressForPlatform(platform, "clSharedMemAllocINTEL");
    clMemFreeINTEL_fn give_back = clGetExtensionFunctionAddressForPlatform(platform, "clMemFreeINTEL");
    clSetKernelArgMemPointerINTEL_fn set =
        clGetExtensionFunctionAddressForPlatform(platform, "clSetKernelArgMemPointerINTEL");
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0)] = 3; }", "k");
    cl_int code;
    int *p = alloc(context, device, NULL, 16 * sizeof *p, 0, &code);
    need(code, "clSharedMemAllocINTEL");
    size_t size = 16, more = 17;
    set(kernel, 0, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    need(p[15] != 3, "the kernel");
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &more, NULL, 0, NULL, NULL); //~ out-of-bounds
    clFinish(queue);
    give_back(context, p);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL); //~ dangling-pointer
    clFinish(queue);
}
