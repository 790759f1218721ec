// check: --arg in=64:index --arg sums=16 --global 16x4 --local 8x4
// The four rows of a group add to the same column.
kernel void column_sums(global const float *in, global float *sums)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    float v = in[y * get_global_size(0) + x];
    if (v > 0.5f)
        sums[x] += v; //~ race-global
}
