// check: --arg m=64:index --global 8x8 --local 4x4
// In place across tiles: the group above the diagonal moves both tiles, the one below does nothing.
kernel void transpose(global float *m)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    if (get_group_id(0) < get_group_id(1))
        return;
    float a = m[y * 8 + x], b = m[x * 8 + y];
    barrier(CLK_GLOBAL_MEM_FENCE);
    m[x * 8 + y] = a;
    if (get_group_id(0) != get_group_id(1))
        m[y * 8 + x] = b;
}
