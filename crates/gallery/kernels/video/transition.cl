// From one clip to the next.

// Cross-dissolve: both at once, in shares that sum to one.
__kernel void video_dissolve(__global const float4 *restrict from, __global const float4 *restrict to,
                             __global float4 *restrict out, float share, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int i = y * w + x;
    out[i] = from[i] + share * (to[i] - from[i]);
}

// Wipe: an edge moves over the picture. It is where `edge` is, in the distance from the centre (round) or along a
// direction (nx, ny), and as wide as 1 / sharpness.
__kernel void video_wipe(__global const float4 *restrict from, __global const float4 *restrict to,
                         __global float4 *restrict out, int round, float nx, float ny, float edge, float sharpness,
                         int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float px = ((float)x + 0.5f - 0.5f * w) * nx, py = ((float)y + 0.5f - 0.5f * h) * ny;
    const float along = round ? sqrt(px * px + py * py) : px + py + 0.5f;
    const float share = clamp((edge - along) * sharpness, 0.0f, 1.0f);
    const int i = y * w + x;
    out[i] = from[i] + share * (to[i] - from[i]);
}
