// The sum of each group, by a tree in local memory. PAIRS adds neighbours first; GRID_STRIDE reads several elements a
// work-item before.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void reduction(__global const uint *in, __global uint *sums, const COUNT n, __local uint *tree)
{
    const INDEX lid = get_local_id(0);
    const INDEX size = get_local_size(0);

#ifdef GRID_STRIDE
    uint sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    tree[lid] = sum;
#else
    const INDEX gid = get_global_id(0);
    tree[lid] = gid < n ? in[gid] : 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

#ifdef PAIRS
    for (INDEX step = 1; step < size; step *= 2) {
        if (lid % (2 * step) == 0)
            tree[lid] += tree[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    for (INDEX half_size = size / 2; half_size > 0; half_size >>= 1) {
        if (lid < half_size)
            tree[lid] += tree[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
    if (lid == 0)
        sums[get_group_id(0)] = tree[0];
}
