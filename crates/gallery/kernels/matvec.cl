// A row-major matrix times a vector, one work-item a row.

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
