// Contrast about middle grey, and brightness: a multiplication and an addition a channel, so that it moves as many
// bytes as a copy and costs as much.
__kernel void video_contrast(__global const float4 *restrict in, __global float4 *restrict out, float contrast,
                             float offset, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    out[y * w + x] = in[y * w + x] * (float4)(contrast, contrast, contrast, 1.0f) + (float4)(offset, offset, offset, 0.0f);
}
