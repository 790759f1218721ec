// Bitonic sorting: a step on global memory with partners `distance` apart, or with WHOLE_GROUP all steps for each group's
// elements in local memory.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

#ifdef WHOLE_GROUP
__kernel void bitonic(__global uint *data, const COUNT distance, const COUNT length, __local uint *keys)
{
    const INDEX gid = get_global_id(0);
    const INDEX lid = get_local_id(0);
    const INDEX size = get_local_size(0);

    keys[lid] = data[gid];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (INDEX k = 2; k <= size; k *= 2) {
        for (INDEX j = k / 2; j > 0; j /= 2) {
            const INDEX other = lid ^ j;
            if (other > lid) {
                const uint a = keys[lid], b = keys[other];
                if ((a > b) == ((lid & k) == 0)) {
                    keys[lid] = b;
                    keys[other] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    data[gid] = keys[lid];
}
#else
__kernel void bitonic(__global uint *data, const COUNT distance, const COUNT length)
{
    const INDEX i = get_global_id(0);
    const INDEX other = i ^ distance;

    if (other > i) {
        const uint a = data[i];
        const uint b = data[other];
        const bool up = (i & length) == 0;
        if ((a > b) == up) {
            data[i] = b;
            data[other] = a;
        }
    }
}
#endif
