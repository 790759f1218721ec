// check: --arg pixels=64:index --arg bins=16 --global 64 --local 32
// Several work-items increment the same bin, without an atomic.
kernel void histogram(global const uchar *pixels, global uint *bins)
{
    local uint count[8];
    size_t l = get_local_id(0);
    if (l < 8)
        count[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    count[pixels[get_global_id(0)] & 7]++; //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        bins[get_group_id(0) * 8 + l] = count[l];
}
