// The sum of a large buffer. Each work-item adds up a part, then the group adds up its work-items in one of several
// ways; sums of unsigned numbers are the same in any order. Groups may have any number of work-items.

#define SHARE(sum)                                                              \
    unsigned sum = 0;                                                           \
    for (unsigned i_ = get_global_id(0); i_ < n; i_ += get_global_size(0))      \
        sum += in[i_]

// Neighbours first: at every step the active work-items are further apart, so that each vector or warp keeps some of
// them.
__kernel void reduce_interleaved(__global const unsigned *in, unsigned n, __global unsigned *out, __local unsigned *part)
{
    const unsigned l = get_local_id(0), size = get_local_size(0);
    SHARE(sum);
    part[l] = sum;

    for (unsigned s = 1; s < size; s *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % (2 * s) == 0 && l + s < size)
            part[l] += part[l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

// The lower half takes the upper half's values: the working items stay together.
__kernel void reduce_contiguous(__global const unsigned *in, unsigned n, __global unsigned *out, __local unsigned *part)
{
    const unsigned l = get_local_id(0);
    SHARE(sum);
    part[l] = sum;

    for (unsigned m = get_local_size(0); m > 1; m = (m + 1) / 2) {
        const unsigned half_m = (m + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < m - half_m)
            part[l] += part[l + half_m];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

#ifdef COLLECTIVE
// The language's own function.
__kernel void reduce_workgroup(__global const unsigned *in, unsigned n, __global unsigned *out, __local unsigned *part)
{
    SHARE(sum);
    const unsigned total = work_group_reduce_add(sum);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = total;
}
#endif

#ifdef TILE_W
// A tile of a picture a group: along the rows of the tile, then down its first column.
__kernel void reduce_tile(__global const unsigned *in, unsigned width, unsigned height, __global unsigned *out)
{
    __local unsigned tile[TILE_H][TILE_W];
    const unsigned x = get_global_id(0), y = get_global_id(1);
    const unsigned lx = get_local_id(0), ly = get_local_id(1);

    tile[ly][lx] = x < width && y < height ? in[y * width + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (unsigned m = TILE_W; m > 1; m = (m + 1) / 2) {
        const unsigned half_m = (m + 1) / 2;
        if (lx < m - half_m)
            tile[ly][lx] += tile[ly][lx + half_m];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (unsigned m = TILE_H; m > 1; m = (m + 1) / 2) {
        const unsigned half_m = (m + 1) / 2;
        if (lx == 0 && ly < m - half_m)
            tile[ly][0] += tile[ly + half_m][0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lx == 0 && ly == 0)
        out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = tile[0][0];
}
#endif

// The same with floats, whose order of adding no compiler may change.
//
// First a pass of these trees after the other, each element a work-item, until one value is left.
#define TREE_LOAD                                                               \
    const unsigned l = get_local_id(0), size = get_local_size(0);               \
    part[l] = get_global_id(0) < n ? in[get_global_id(0)] : 0.0f

__kernel void reduce_tree_divergent(__global const float *in, unsigned n, __global float *out, __local float *part)
{
    TREE_LOAD;
    for (unsigned s = 1; s < size; s *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % (2 * s) == 0 && l + s < size)
            part[l] += part[l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

// The same elements, but the first work-items do the work: no divergence, but bank conflicts.
__kernel void reduce_tree_strided(__global const float *in, unsigned n, __global float *out, __local float *part)
{
    TREE_LOAD;
    for (unsigned s = 1; s < size; s *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (2 * s * l + s < size)
            part[2 * s * l] += part[2 * s * l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

void add_contiguous(__local float *part, __global float *out)
{
    const unsigned l = get_local_id(0);
    for (unsigned m = get_local_size(0); m > 1; m = (m + 1) / 2) {
        const unsigned half_m = (m + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < m - half_m)
            part[l] += part[l + half_m];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

__kernel void reduce_tree_contiguous(__global const float *in, unsigned n, __global float *out, __local float *part)
{
    TREE_LOAD;
    add_contiguous(part, out);
}

// Two passes: some groups reduce everything, one group reduces their results.
__kernel void reduce_twopass(__global const float *in, unsigned n, __global float *out, __local float *part)
{
    float sum = 0.0f;
    for (unsigned i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[get_local_id(0)] = sum;
    add_contiguous(part, out);
}

__kernel void reduce_twopass4(__global const float *in, unsigned n, __global float *out, __local float *part)
{
    float4 four = (float4)(0.0f);
    for (unsigned i = get_global_id(0); i < n / 4; i += get_global_size(0))
        four += vload4(i, in);
    float sum = four.x + four.y + four.z + four.w;
    for (unsigned i = n / 4 * 4 + get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[get_local_id(0)] = sum;
    add_contiguous(part, out);
}

// A contiguous part for each work-item, 64 floats at a time: made for CPUs, which read sequentially at best speed.
__kernel void reduce_chunks(__global const float *in, unsigned n, __global float *out)
{
    const unsigned g = get_global_id(0), all = get_global_size(0), steps = n / 64;
    const unsigned share = steps / all + (steps % all != 0);
    const unsigned begin = min(g * share, steps), end = min(begin + share, steps);
    float16 a = (float16)(0.0f), b = (float16)(0.0f), c = (float16)(0.0f), d = (float16)(0.0f);

    for (unsigned i = begin; i < end; i++) {
        a += vload16(i * 4, in);
        b += vload16(i * 4 + 1, in);
        c += vload16(i * 4 + 2, in);
        d += vload16(i * 4 + 3, in);
    }
    a += b + (c + d);
    const float8 eight = a.lo + a.hi;
    const float4 four = eight.lo + eight.hi;
    float sum = four.x + four.y + four.z + four.w;
    for (unsigned i = steps * 64 + g; i < n; i += all)
        sum += in[i];
    out[g] = sum;
}
