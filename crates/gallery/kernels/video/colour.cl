// The three-way colour corrector: lift, gamma and gain of each channel, one set each for shadows, midtones and
// highlights. How much a pixel belongs to each follows from its luma, without a step anywhere.
// `grade` has nine rows: lift of shadows, midtones, highlights, then gamma, then gain.
__kernel void video_colour(__global const float4 *restrict in, __global float4 *restrict out, __constant float4 *grade,
                           int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float4 p = in[y * w + x];
    const float luma = clamp(0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z, 0.0f, 1.0f);
    const float dark = max(1.0f - 2.0f * luma, 0.0f), bright = max(2.0f * luma - 1.0f, 0.0f);
    const float shadows = dark * dark * (3.0f - 2.0f * dark), highlights = bright * bright * (3.0f - 2.0f * bright);
    const float midtones = 1.0f - shadows - highlights;

    const float4 lift = grade[0] * shadows + grade[1] * midtones + grade[2] * highlights;
    const float4 gamma = grade[3] * shadows + grade[4] * midtones + grade[5] * highlights;
    const float4 gain = grade[6] * shadows + grade[7] * midtones + grade[8] * highlights;
    const float4 v = max(gain * (p + lift * (1.0f - p)), 0.0f);
    out[y * w + x] = (float4)(powr(v.x, 1.0f / gamma.x), powr(v.y, 1.0f / gamma.y), powr(v.z, 1.0f / gamma.z), p.w);
}
