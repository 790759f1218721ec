// The Gaussian blur of gauss.cl along rows, then along columns, on images of one float a pixel: the sampler repeats the
// last pixel beyond the edge.

__constant float weights[2 * RADIUS + 1] = { WEIGHTS };
__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void gauss_rows_image(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * read_imagef(in, edge, (int2)(x + d, y)).x;
    write_imagef(out, (int2)(x, y), (float4)(sum, 0.0f, 0.0f, 1.0f));
}

__kernel void gauss_columns_image(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * read_imagef(in, edge, (int2)(x, y + d)).x;
    write_imagef(out, (int2)(x, y), (float4)(sum, 0.0f, 0.0f, 1.0f));
}
