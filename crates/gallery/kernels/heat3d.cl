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
// fewer than others, it has the one after the last cell, which is always at zero.
__kernel void heat3d_ocl_ell(__global const float *in, __global float *out, __global const float *share,
                             __global const unsigned *neighbours)
{
    const unsigned i = get_global_id(0);

    if (i >= CELLS)
        return;
    float sum = in[i];
    for (unsigned k = 0; k < DEGREE; k++)
        sum += in[neighbours[k * CELLS + i]];
    out[i] = sum * share[i];
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
