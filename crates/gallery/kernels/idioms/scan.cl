// The inclusive prefix sum of each group, in local memory: after Hillis and Steele, or with BLELLOCH by a tree up and down.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void scan(__global const uint *in, __global uint *out, const COUNT n, __local uint *sums)
{
    const INDEX gid = get_global_id(0);
    const INDEX lid = get_local_id(0);
    const INDEX size = get_local_size(0);
    const uint own = gid < n ? in[gid] : 0;

    sums[lid] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BLELLOCH
    for (INDEX step = 1; step < size; step *= 2) {
        const INDEX at = (lid + 1) * step * 2 - 1;
        if (at < size)
            sums[at] += sums[at - step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[size - 1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (INDEX step = size / 2; step > 0; step /= 2) {
        const INDEX at = (lid + 1) * step * 2 - 1;
        if (at < size) {
            const uint left = sums[at - step];
            sums[at - step] = sums[at];
            sums[at] += left;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (gid < n)
        out[gid] = sums[lid] + own;
#else
    for (INDEX step = 1; step < size; step *= 2) {
        const uint left = lid >= step ? sums[lid - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[lid] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (gid < n)
        out[gid] = sums[lid];
#endif
}
