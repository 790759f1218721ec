// Heat in an irregular mesh: a cell takes the mean of its own temperature and those of its neighbours. A cell that is
// held at its temperature has no neighbours.

// The neighbours of cell i are `neighbours[first[i]]` to `neighbours[first[i + 1] - 1]`: compressed rows.
__kernel void heat3d_ocl(__global const float *in, __global float *out, __global const unsigned *first,
                         __global const unsigned *neighbours)
{
    const unsigned i = get_global_id(0);

    if (i >= CELLS)
        return;
    const unsigned begin = first[i], end = first[i + 1];
    float sum = in[i];
    for (unsigned k = begin; k < end; k++)
        sum += in[neighbours[k]];
    out[i] = begin == end ? sum : sum / (1 + end - begin);
}

// The k-th neighbours of all cells lie side by side, so that work-items side by side read side by side. Where a cell has
// fewer than others, it has one that is always at zero.
float mean(__global const float *in, __global const float *share, __global const unsigned *neighbours, unsigned cells,
           unsigned i)
{
    float sum = in[i];
    for (unsigned k = 0; k < DEGREE; k++)
        sum += in[neighbours[k * cells + i]];
    return sum * share[i];
}

__kernel void heat3d_ocl_ell(__global const float *in, __global float *out, __global const float *share,
                             __global const unsigned *neighbours)
{
    const unsigned i = get_global_id(0);

    if (i >= CELLS)
        return;
    out[i] = mean(in, share, neighbours, CELLS, i);
}

// A group's cells are a patch, which it copies into local memory with the cells around it. A neighbour's number is a
// place there, and takes two bytes. The last place is always at zero.
__kernel void heat3d_ocl_patch(__global const float *in, __global float *out, __global const float *share,
                               __global const ushort *neighbours, __global const unsigned *first,
                               __global const unsigned *around)
{
    __local float patch[ROOM];
    const unsigned i = get_global_id(0), l = get_local_id(0);
    const unsigned begin = first[get_group_id(0)], end = first[get_group_id(0) + 1];

    patch[l] = i < CELLS ? in[i] : 0;
    for (unsigned k = begin + l; k < end; k += GROUP)
        patch[GROUP + k - begin] = in[around[k]];
    if (l == 0)
        patch[ROOM - 1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= CELLS)
        return;
    float sum = patch[l];
    for (unsigned k = 0; k < DEGREE; k++)
        sum += patch[neighbours[k * CELLS + i]];
    out[i] = sum * share[i];
}

// A temperature stays as it is if it would change by STILL or less. A patch computes only if a temperature of it or of a
// patch around it changed in the last step, as `before` says; else its cells are the same on both boards.
__kernel void heat3d_ocl_lazy(__global const float *in, __global float *out, __global const float *share,
                              __global const unsigned *neighbours, __global const unsigned *first,
                              __global const unsigned *patches, __global const unsigned *before,
                              __global unsigned *changed)
{
    volatile __local unsigned any;
    const unsigned i = get_global_id(0), l = get_local_id(0), patch = get_group_id(0);
    unsigned awake = 0, mine = 0;

    for (unsigned k = first[patch]; k < first[patch + 1]; k++)
        awake |= before[patches[k]];
    // Patches asleep execute the barriers below too: platforms differ if a whole group returns before a barrier.
    if (awake && i < CELLS) {
        const float now = in[i], next = mean(in, share, neighbours, CELLS, i);
        mine = fabs(next - now) > STILL;
        out[i] = mine ? next : now;
    }
    if (l == 0)
        any = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine)
        atomic_or(&any, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        changed[patch] = any;
}

// On one of several devices: the cells of its part up to `end`, from where the range begins.
__kernel void heat3d_part(__global const float *in, __global float *out, __global const float *share,
                          __global const unsigned *neighbours, unsigned cells, unsigned end)
{
    const unsigned i = get_global_id(0);

    if (i < end)
        out[i] = mean(in, share, neighbours, cells, i);
}

// The cells that other devices need, side by side.
__kernel void heat3d_pack(__global const float *in, __global float *packed, __global const unsigned *list,
                          unsigned count)
{
    const unsigned i = get_global_id(0);

    if (i < count)
        packed[i] = in[list[i]];
}

// The largest change of a temperature, a number for each work-item: the host takes the largest of those few.
__kernel void heat3d_change(__global const float *a, __global const float *b, __global float *largest)
{
    const unsigned first = get_global_id(0), step = get_global_size(0);
    float most = 0;

    for (unsigned i = first; i < CELLS; i += step)
        most = fmax(most, fabs(a[i] - b[i]));
    largest[first] = most;
}
