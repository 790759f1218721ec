// A layer on what lies below it, in place (W3C, Compositing and Blending; Porter and Duff, 1984). What lies below is
// opaque; the layer's colours are multiplied by its coverage.

float3 video_mix_of(int mode, float3 below, float3 above)
{
    switch (mode) {
    case 1: return below * above;
    case 2: return below + above - below * above;
    case 3: {
        const float3 dark = 2.0f * below * above;
        const float3 bright = 1.0f - 2.0f * (1.0f - below) * (1.0f - above);
        return (float3)(below.x <= 0.5f ? dark.x : bright.x, below.y <= 0.5f ? dark.y : bright.y,
                        below.z <= 0.5f ? dark.z : bright.z);
    }
    case 4: return fmin(below, above);
    case 5: return fmax(below, above);
    case 6: return fmin(below + above, 1.0f);
    case 7: return fabs(below - above);
    default: return above;
    }
}

__kernel void video_blend(__global float4 *restrict below, __global const float4 *restrict layer, int mode,
                          float opacity, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float4 p = layer[y * w + x], b = below[y * w + x];
    const float3 colour = p.w > 0.0f ? p.xyz / p.w : (float3)(0.0f);
    const float cover = p.w * opacity;
    const float3 mixed = b.xyz + cover * (video_mix_of(mode, b.xyz, colour) - b.xyz);
    below[y * w + x] = (float4)(mixed, 1.0f);
}

// What the lowest layer lies on: black.
__kernel void video_clear(__global float4 *restrict out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        out[y * w + x] = (float4)(0.0f, 0.0f, 0.0f, 1.0f);
}
