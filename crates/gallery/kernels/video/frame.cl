// What a frame's kernel is made of: `fused.rs` writes it, a line for each step, so that a pixel goes through all layers
// and effects in registers (as Core Image concatenates kernels). `p` holds the numbers of a step. The formulas are those
// of the single effects, rearranged where that saves a division.

// Luma and centred chroma, with 1 for the part that is covered.
float4 video_word(uint word)
{
    return (float4)((float)(int)(word & 255), (float)(int)(word >> 8 & 4095) * 0.0625f - 128.0f,
                    (float)(int)(word >> 20) * 0.0625f - 128.0f, 1.0f);
}

// To R'G'B', multiplied by its coverage if that was. p: black, luma, and the four parts of chroma.
float4 video_rgb(float4 c, __constant float *p)
{
    const float luma = (c.x - p[0] * c.w) * p[1];
    return (float4)(luma + p[2] * c.z, luma + p[3] * c.y + p[4] * c.z, luma + p[5] * c.y, c.w);
}

// p: contrast and offset.
float4 video_contrasted(float4 c, __constant float *p)
{
    return (float4)(c.xyz * p[0] + p[1] * c.w, c.w);
}

// The three-way corrector; p: nine triples. A power by logarithms: no farther from the exact one than 1e-7 up to 1,
// and cheaper than `powr`, which is right to the last places of tiny results, too.
float4 video_graded(float4 c, __constant float *p)
{
    const float luma = clamp(0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z, 0.0f, 1.0f);
    const float dark = max(1.0f - 2.0f * luma, 0.0f), bright = max(2.0f * luma - 1.0f, 0.0f);
    const float s = dark * dark * (3.0f - 2.0f * dark), l = bright * bright * (3.0f - 2.0f * bright);
    const float m = 1.0f - s - l;
    const float3 lift = (float3)(p[0], p[1], p[2]) * s + (float3)(p[3], p[4], p[5]) * m + (float3)(p[6], p[7], p[8]) * l;
    const float3 gamma =
        (float3)(p[9], p[10], p[11]) * s + (float3)(p[12], p[13], p[14]) * m + (float3)(p[15], p[16], p[17]) * l;
    const float3 gain =
        (float3)(p[18], p[19], p[20]) * s + (float3)(p[21], p[22], p[23]) * m + (float3)(p[24], p[25], p[26]) * l;
    const float3 v = max(gain * (c.xyz + lift * (1.0f - c.xyz)), 0.0f);
    return (float4)(exp2(log2(v) / gamma), c.w);
}

// Where a pixel lies in a clip: the shares of four of the clip's pixels, and their indices.
typedef struct {
    float4 share;
    int4 at;
} Taps;

// p: the matrix, then the clip's sides.
Taps video_taps(int x, int y, __constant float *p)
{
    const int sw = (int)p[6], sh = (int)p[7];
    const float u = clamp(fma(p[0], (float)x, fma(p[1], (float)y, p[2])), -2.0f, p[6] + 1.0f);
    const float v = clamp(fma(p[3], (float)x, fma(p[4], (float)y, p[5])), -2.0f, p[7] + 1.0f);
    const float left = floor(u), top = floor(v), right_share = u - left, lower_share = v - top;
    const int l = (int)left, t = (int)top;
    const float wl = l >= 0 && l < sw ? 1.0f - right_share : 0.0f, wr = l >= -1 && l < sw - 1 ? right_share : 0.0f;
    const float wt = t >= 0 && t < sh ? 1.0f - lower_share : 0.0f, wb = t >= -1 && t < sh - 1 ? lower_share : 0.0f;
    const int lc = clamp(l, 0, sw - 1), rc = clamp(l + 1, 0, sw - 1);
    const int upper = clamp(t, 0, sh - 1) * sw, lower = clamp(t + 1, 0, sh - 1) * sw;
    Taps taps;
    taps.share = (float4)(wl * wt, wr * wt, wl * wb, wr * wb);
    taps.at = (int4)(upper + lc, upper + rc, lower + lc, lower + rc);
    return taps;
}

// The sum of four shares.
float4 video_sum(float4 share, float4 a, float4 b, float4 c, float4 d)
{
    return a * share.x + b * share.y + c * share.z + d * share.w;
}

// How far a wipe has come at a pixel. p: round, direction, edge, sharpness.
float video_wiped(int x, int y, int w, int h, __constant float *p)
{
    const float px = ((float)x + 0.5f - 0.5f * w) * p[1], py = ((float)y + 0.5f - 0.5f * h) * p[2];
    const float along = p[0] != 0.0f ? sqrt(px * px + py * py) : px + py + 0.5f;
    return clamp((p[3] - along) * p[4], 0.0f, 1.0f);
}

// A layer's colour without its coverage, for the modes that cannot do with it.
float3 video_bare(float4 c)
{
    return c.w > 0.0f ? c.xyz / c.w : (float3)(0.0f);
}

// The modes: what lies below, the layer multiplied by its coverage, its opacity.
float3 video_normal(float3 b, float4 c, float k)
{
    return b + k * (c.xyz - c.w * b);
}

float3 video_multiply(float3 b, float4 c, float k)
{
    return b + k * (c.xyz - c.w) * b;
}

float3 video_screen(float3 b, float4 c, float k)
{
    return b + k * c.xyz * (1.0f - b);
}

float3 video_add(float3 b, float4 c, float k)
{
    return b + k * c.w * (fmin(b + video_bare(c), 1.0f) - b);
}

float3 video_darken(float3 b, float4 c, float k)
{
    return b + k * c.w * (fmin(b, video_bare(c)) - b);
}

float3 video_lighten(float3 b, float4 c, float k)
{
    return b + k * c.w * (fmax(b, video_bare(c)) - b);
}

float3 video_difference(float3 b, float4 c, float k)
{
    return b + k * c.w * (fabs(b - video_bare(c)) - b);
}

float3 video_overlay(float3 b, float4 c, float k)
{
    const float3 a = video_bare(c), dark = 2.0f * b * a, bright = 1.0f - 2.0f * (1.0f - b) * (1.0f - a);
    const float3 mixed = (float3)(b.x <= 0.5f ? dark.x : bright.x, b.y <= 0.5f ? dark.y : bright.y,
                                  b.z <= 0.5f ? dark.z : bright.z);
    return b + k * c.w * (mixed - b);
}

// Whether a group of pixels touches a box; all of it answers the same. p: left, top, and right and lower end.
bool video_touches(__constant float *p)
{
    const int x = get_group_id(0) * get_local_size(0), y = get_group_id(1) * get_local_size(1);
    return x < (int)p[2] && y < (int)p[3] && x + (int)get_local_size(0) > (int)p[0] &&
           y + (int)get_local_size(1) > (int)p[1];
}
