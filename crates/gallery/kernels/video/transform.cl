// Scale, rotation and position: each pixel of the layer looks up its place in the clip, in coordinates whose integers
// are the centres of pixels, between four pixels. Beyond the clip is nothing, so that its edge is smooth; colours come
// out multiplied by their coverage.
__kernel void video_transform(__global const float4 *restrict clip, __global float4 *restrict out, int sw, int sh, int w,
                              int h, float xx, float xy, float x0, float yx, float yy, float y0)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    // Farther outside is as good as just outside, and fits an integer.
    const float u = clamp(fma(xx, (float)x, fma(xy, (float)y, x0)), -2.0f, sw + 1.0f);
    const float v = clamp(fma(yx, (float)x, fma(yy, (float)y, y0)), -2.0f, sh + 1.0f);
    const float left = floor(u), top = floor(v);
    const float right_share = u - left, lower_share = v - top;
    const int l = (int)left, t = (int)top;

    const float wl = l >= 0 && l < sw ? 1.0f - right_share : 0.0f;
    const float wr = l >= -1 && l < sw - 1 ? right_share : 0.0f;
    const float wt = t >= 0 && t < sh ? 1.0f - lower_share : 0.0f;
    const float wb = t >= -1 && t < sh - 1 ? lower_share : 0.0f;
    const int lc = clamp(l, 0, sw - 1), rc = clamp(l + 1, 0, sw - 1);
    __global const float4 *upper = clip + clamp(t, 0, sh - 1) * sw, *lower = clip + clamp(t + 1, 0, sh - 1) * sw;
    out[y * w + x] = (upper[lc] * wl + upper[rc] * wr) * wt + (lower[lc] * wl + lower[rc] * wr) * wb;
}
