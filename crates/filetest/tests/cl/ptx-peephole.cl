// RUN: stages asm for nvptx64-nvidia-cuda:sm_90
// FIRES: ptx-peephole 1
// NOT: bfe
// CHECK: shr.u32
kernel void k(global uint *p, global uint *q)
{
    p[get_global_id(0)] = q[get_global_id(0)] >> 24 & 255;
}
