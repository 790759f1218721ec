// check: --arg pixels=64:index --arg bins=16:7 --arg share=64 --global 64 --local 32
// The group clears its bins, counts by atomics and reads plainly, with a barrier between the parts.
kernel void histogram(global const uchar *pixels, global uint *bins, global float *share)
{
    size_t l = get_local_id(0), g = get_global_id(0);
    global uint *mine = bins + get_group_id(0) * 8;
    if (l < 8)
        mine[l] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(&mine[pixels[g] % 8]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    share[g] = mine[pixels[g] % 8] / 32.0f;
}
