// A float read, one added, written back. What differs is which element a work-item takes: memory moves in segments, and
// a vector or a warp that touches all of one segment, in any order, costs as much as one that touches a single element
// of it.

__kernel void coalesce_in_order(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0);

    if (i < n)
        a[i] += 1.0f;
}

// Every eighth work-item has nothing to do: the segment moves all the same.
__kernel void coalesce_idle(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0);

    if (i < n && i % 8 != 3)
        a[i] += 1.0f;
}

// Every element of sixteen, out of order.
__kernel void coalesce_permuted(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0);
    const unsigned j = (i & ~15u) | (i * 5 + 3 & 15);

    if (j < n)
        a[j] += 1.0f;
}

// The ids the other way round: neighbours in dimension 0 are a row apart, those in dimension 1 side by side.
__kernel void coalesce_turned(__global float *a, unsigned n, unsigned w)
{
    const unsigned y = get_global_id(0), x = get_global_id(1);

    if (x < w && y * w + x < n)
        a[y * w + x] += 1.0f;
}

// Off by one element: each vector straddles two segments.
__kernel void coalesce_misaligned(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0) + 1;

    if (i < n)
        a[i] += 1.0f;
}

// Every other element: half of each segment moves in vain.
__kernel void coalesce_stride2(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0) * 2;

    if (i < n)
        a[i] += 1.0f;
}

// Adjacent work-items access distant elements: a product with an odd number, modulo a power of two, yields every
// smaller number once. The range is that power of two.
__kernel void coalesce_scattered(__global float *a, unsigned n)
{
    const unsigned i = (unsigned)get_global_id(0) * 2654435761u & (unsigned)get_global_size(0) - 1;

    if (i < n)
        a[i] += 1.0f;
}

// A record of three floats a work-item, straight from memory.
__kernel void coalesce_float3(__global float *a, unsigned n)
{
    const unsigned i = get_global_id(0) * 3;

    if (i < n)
        a[i] += 1.0f;
    if (i + 1 < n)
        a[i + 1] += 1.0f;
    if (i + 2 < n)
        a[i + 2] += 1.0f;
}

// The same, but the group copies its records to local memory and back in order.
__kernel void coalesce_float3_local(__global float *a, unsigned n, __local float *records)
{
    const unsigned l = get_local_id(0), size = get_local_size(0);
    const unsigned first = get_group_id(0) * size * 3;

    for (unsigned k = 0; k < 3; k++)
        if (first + k * size + l < n)
            records[k * size + l] = a[first + k * size + l];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (unsigned k = 0; k < 3; k++)
        if (first + l * 3 + k < n)
            records[l * 3 + k] += 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (unsigned k = 0; k < 3; k++)
        if (first + k * size + l < n)
            a[first + k * size + l] = records[k * size + l];
}
