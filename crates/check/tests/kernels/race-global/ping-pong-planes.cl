// check: --arg a=64:index --arg b=64 --global 4x4x4 --local 4x4x4
// Two planes of global memory: one barrier a step, since each step reads one and writes the other.
kernel void grow(global int *a, global int *b)
{
    uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), i = (z * 4 + y) * 4 + x;
    for (int step = 0; step < 4; step++) {
        global int *from = step & 1 ? b : a;
        global int *to = step & 1 ? a : b;
        to[i] = max(from[i], z > 0 ? from[i - 16] : from[(y ^ 1) * 4 + x]);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
