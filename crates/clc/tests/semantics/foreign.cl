// Names of other languages.
#include <math.h>
__global__ void add(float *a, uint32_t n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float tile[16];
  __syncthreads();
  if (i < n) a[i] = sinf(a[i]) + powf(a[i], 2.0f);
}
kernel void f(global int *out) {
  int *p = malloc(4);
  atomicAdd(out, 1);
  out[1] = rand();
}
