// How many work-groups are in flight at once: each one counts itself in when it starts and out when it ends, and keeps
// the largest count. Meanwhile its work-items hold LIVE numbers each, all of which depend on each other, and follow a
// chain through the group's local memory: a latency that only other groups in flight can hide.

__kernel void occupancy(__global unsigned *out, volatile __global int *running, volatile __global int *most,
                        unsigned rounds, __local unsigned *scratch, unsigned words)
{
    const unsigned l = get_local_id(0), size = get_local_size(0), i = get_global_id(0);

    if (l == 0)
        atomic_max(most, atomic_inc(running) + 1);
    for (unsigned k = l; k < words; k += size)
        scratch[k] = k * 2654435761u;
    barrier(CLK_LOCAL_MEM_FENCE);

    unsigned v[LIVE];
    for (unsigned k = 0; k < LIVE; k++)
        v[k] = i * LIVE + k;
    unsigned at = i % words;
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned first = v[0];
        unsigned mine = first;
#pragma unroll
        for (unsigned k = 0; k + 1 < LIVE; k++) {
            const unsigned next = v[k + 1];
            v[k] = mine * 1664525u + next;
            mine = next;
        }
        v[LIVE - 1] = mine * 1664525u + first;
        at = (scratch[at] + v[0]) % words;
    }

    unsigned sum = at;
    for (unsigned k = 0; k < LIVE; k++)
        sum += v[k];
    out[i] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        atomic_dec(running);
}
