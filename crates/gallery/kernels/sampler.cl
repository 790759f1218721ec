// Reads of an image: each work-item adds up four, a little apart and off the grid. All coordinates are exact, so that
// every platform reads the same neighbours with the same weights.

#define PLACE(x, y, dx, dy) (float2)((x) * (31.0f / 32.0f) + (dx), (y) * (31.0f / 32.0f) + (dy))

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | ADDRESS | CLK_FILTER_NEAREST;
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | ADDRESS | CLK_FILTER_LINEAR;

// The same sum for all formats; channels that a format lacks count too, as OpenCL defines them.
float sum(float4 v)
{
    return v.x + 2.0f * v.y + 3.0f * v.z + 4.0f * v.w;
}

#define READ4(s)                                                                                                       \
    (sum(read_imagef(in, s, PLACE(x, y, 0.375f, 0.125f))) + sum(read_imagef(in, s, PLACE(x, y, 0.875f, 0.375f)))       \
     + sum(read_imagef(in, s, PLACE(x, y, 0.125f, 0.625f))) + sum(read_imagef(in, s, PLACE(x, y, 0.625f, 0.875f))))

__kernel void sampler_nearest(__read_only image2d_t in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(nearest);
}

__kernel void sampler_linear(__read_only image2d_t in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(linear);
}

// Without a sampler: the four pixels of a square, which lie inside.
__kernel void sampler_fetch(__read_only image2d_t in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int right = min(x + 1, WIDTH - 1), down = min(y + 1, HEIGHT - 1);
    out[y * WIDTH + x] = sum(read_imagef(in, (int2)(x, y))) + sum(read_imagef(in, (int2)(right, y)))
                         + sum(read_imagef(in, (int2)(x, down))) + sum(read_imagef(in, (int2)(right, down)));
}
