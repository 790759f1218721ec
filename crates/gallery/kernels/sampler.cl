// Reads of an image.

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | ADDRESS | CLK_FILTER_NEAREST;
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | ADDRESS | CLK_FILTER_LINEAR;

#define NEAREST(place) read_imagef(in, nearest, place)
#define LINEAR(place) read_imagef(in, linear, place)

__kernel void sampler_nearest(__read_only image2d_t in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(NEAREST);
}

__kernel void sampler_linear(__read_only image2d_t in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(LINEAR);
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
