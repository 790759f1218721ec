// check: --arg out=16 --arg table=16 --arg in=16:index --global 16 --local 8
// A buffer of integers keeps pointers, which each work-item reads back.
kernel void indirect(global int *out, global ulong *table, global const int *in) {
    size_t i = get_global_id(0);
    table[i] = (ulong)(uintptr_t)(in + 15 - i);
    global const int *p = (global const int *)(uintptr_t)table[i];
    out[i] = *p;
}
