// check: --arg in=64:index --arg bins=8 --global 16 --local 16
// A work-item whose value is skipped goes on to the next round without the barrier of this one.
kernel void histogram(global const uint *in, global uint *bins)
{
    local uint count[8];
    size_t l = get_local_id(0);
    if (l < 8)
        count[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < 4; round++) {
        uint v = in[round * 16 + l];
        if (v % 3 == 0)
            continue;
        atomic_add(&bins[v % 8], atomic_inc(&count[v % 8]));
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    }
}
