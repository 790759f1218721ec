// RUN: stages asm for nvptx64-nvidia-cuda:sm_90
// FIRES: ptx-errata 5
// FIRES: ptx-peephole 0
// NOT: min.s16
// CHECK: min.s32
kernel void k(global short *p, global short *q)
{
    p[get_global_id(0)] = min(q[get_global_id(0)], (short)127);
}
