// RUN: stages asm for nvptx64-nvidia-cuda:sm_90
// FIRES: ptx-peephole 1
// NOT: cvta.to.local
// CHECK: %SPL
kernel void k(global int *p, int n)
{
    int a[64];
    for (int i = 0; i < n; i++)
        a[i & 63] = p[i];
    p[get_global_id(0)] = a[p[n] & 63];
}
