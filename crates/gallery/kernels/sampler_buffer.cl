// The reads of sampler.cl by hand: of a buffer that holds the same pixels, row by row. What a read of an image costs is
// compared with these.

#if defined(PIXEL_rgba8)
typedef uchar4 pixel;
#define FLOATS(p) (convert_float4(p) / 255.0f)
#elif defined(PIXEL_bgra8)
typedef uchar4 pixel;
#define FLOATS(p) (convert_float4((p).zyxw) / 255.0f)
#elif defined(PIXEL_r8)
typedef uchar pixel;
#define FLOATS(p) (float4)((p) / 255.0f, 0.0f, 0.0f, 1.0f)
#elif defined(PIXEL_rgba16)
typedef ushort4 pixel;
#define FLOATS(p) (convert_float4(p) / 65535.0f)
#elif defined(PIXEL_half4)
typedef ushort4 pixel;
#define FETCH(i) vload_half4(i, (__global const half *)in)
#elif defined(PIXEL_float4)
typedef float4 pixel;
#define FLOATS(p) (p)
#else
typedef float pixel;
#define FLOATS(p) (float4)(p, 0.0f, 0.0f, 1.0f)
#endif

// Outside of an image lies black, which is opaque in a format without alpha.
#if defined(PIXEL_r8) || defined(PIXEL_float)
#define BORDER (float4)(0.0f, 0.0f, 0.0f, 1.0f)
#else
#define BORDER 0.0f
#endif

#ifndef FETCH
#define FETCH(i) FLOATS(in[i])
#endif

float4 fetch(__global const pixel *in, int x, int y)
{
#ifdef border
    if (x < 0 || x >= WIDTH || y < 0 || y >= HEIGHT)
        return BORDER;
    return FETCH(y * WIDTH + x);
#else
    return FETCH(clamp(y, 0, HEIGHT - 1) * WIDTH + clamp(x, 0, WIDTH - 1));
#endif
}

float4 nearest(__global const pixel *in, float2 at)
{
    return fetch(in, (int)floor(at.x), (int)floor(at.y));
}

float4 linear(__global const pixel *in, float2 at)
{
    const float2 corner = floor(at - 0.5f), part = at - 0.5f - corner;
    const int x = (int)corner.x, y = (int)corner.y;
    const float4 above = mix(fetch(in, x, y), fetch(in, x + 1, y), part.x);
    const float4 below = mix(fetch(in, x, y + 1), fetch(in, x + 1, y + 1), part.x);
    return mix(above, below, part.y);
}

#define NEAREST(place) nearest(in, place)
#define LINEAR(place) linear(in, place)

__kernel void sampler_nearest_buffer(__global const pixel *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(NEAREST);
}

__kernel void sampler_linear_buffer(__global const pixel *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = READ4(LINEAR);
}

// The four pixels of a square, which lie inside.
__kernel void sampler_fetch_buffer(__global const pixel *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;
    const int right = min(x + 1, WIDTH - 1), down = min(y + 1, HEIGHT - 1);
    out[y * WIDTH + x] = sum(FETCH(y * WIDTH + x)) + sum(FETCH(y * WIDTH + right))
                         + sum(FETCH(down * WIDTH + x)) + sum(FETCH(down * WIDTH + right));
}
