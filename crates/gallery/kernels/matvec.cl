// A row-major matrix times a vector, one work-item a row unless it says otherwise.

__kernel void matvec_scalar(__global const float *a, __global const float *x, __global float *y, unsigned columns, unsigned rows)
{
    const unsigned r = get_global_id(0);
    float sum = 0.0f;

    if (r >= rows)
        return;
    for (unsigned c = 0; c < columns; c++)
        sum += a[(size_t)r * columns + c] * x[c];
    y[r] = sum;
}

__kernel void matvec_float4(__global const float *a, __global const float *x, __global float *y, unsigned columns, unsigned rows)
{
    const unsigned r = get_global_id(0);
    float4 sum = (float4)(0.0f);

    if (r >= rows)
        return;
    __global const float *row = a + (size_t)r * columns;
    for (unsigned c = 0; c < columns / 4; c++)
        sum += vload4(c, row) * vload4(c, x);
    float rest = 0.0f;
    for (unsigned c = columns / 4 * 4; c < columns; c++)
        rest += row[c] * x[c];
    y[r] = sum.x + sum.y + sum.z + sum.w + rest;
}

__kernel void matvec_float16(__global const float *a, __global const float *x, __global float *y, unsigned columns, unsigned rows)
{
    const unsigned r = get_global_id(0);
    float16 sum = (float16)(0.0f);

    if (r >= rows)
        return;
    __global const float *row = a + (size_t)r * columns;
    for (unsigned c = 0; c < columns / 16; c++)
        sum += vload16(c, row) * vload16(c, x);
    float rest = 0.0f;
    for (unsigned c = columns / 16 * 16; c < columns; c++)
        rest += row[c] * x[c];
    const float8 eight = sum.lo + sum.hi;
    const float4 four = eight.lo + eight.hi;
    y[r] = four.x + four.y + four.z + four.w + rest;
}

// A row a group: its work-items read side by side, then add up what they have.
__kernel void matvec_team(__global const float *a, __global const float *x, __global float *y, unsigned columns, unsigned rows,
                          __local float *part)
{
    const unsigned l = get_local_id(0), size = get_local_size(0);
    __global const float *row = a + get_group_id(0) * columns;
    float4 four = (float4)(0.0f);

    for (unsigned c = l; c < columns / 4; c += size)
        four += vload4(c, row) * vload4(c, x);
    float sum = four.x + four.y + four.z + four.w;
    for (unsigned c = columns / 4 * 4 + l; c < columns; c += size)
        sum += row[c] * x[c];
    part[l] = sum;

    // Halves rounded up: the group may have any size, not only a power of two.
    for (unsigned m = size; m > 1; m = (m + 1) / 2) {
        const unsigned half_m = (m + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < m - half_m)
            part[l] += part[l + half_m];
    }
    if (l == 0)
        y[get_group_id(0)] = part[0];
}
