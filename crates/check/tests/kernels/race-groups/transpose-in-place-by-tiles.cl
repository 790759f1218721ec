// check: --arg m=64:index --global 8x8 --local 4x4
// The tile above the diagonal and the one below belong to different groups, which no barrier orders.
kernel void transpose(global float *m)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    float v = m[y * 8 + x]; //~ race-groups
    barrier(CLK_GLOBAL_MEM_FENCE);
    m[x * 8 + y] = v; //~ race-groups
}
