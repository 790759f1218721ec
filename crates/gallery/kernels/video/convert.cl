// A frame of a film to pixels: Y'CbCr of BT.709 in 8 bits, three planes one after the other, to R'G'B' from 0 to 1.
// Chroma planes with half the columns (shift_x = 1) or rows (shift_y = 1) are sampled linearly; `left` says that their
// samples lie on the even columns, as in MPEG-2, and not between two columns, as in JPEG.
__kernel void video_convert(__global const uchar *restrict yuv, __global float4 *restrict out, int w, int h,
                            int shift_x, int shift_y, int left, int full)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int cw = (w + shift_x) >> shift_x, ch = (h + shift_y) >> shift_y;
    const int x0 = x >> shift_x, y0 = y >> shift_y;
    // The next sample, on the side where this pixel lies, and its share.
    const int x1 = clamp(x0 + ((x & 1) ? 1 : -1), 0, cw - 1), y1 = clamp(y0 + ((y & 1) ? 1 : -1), 0, ch - 1);
    const float right = shift_x ? (left ? 0.5f * (x & 1) : 0.25f) : 0.0f;
    const float below = shift_y ? 0.25f : 0.0f;
    __global const uchar *u = yuv + w * h, *v = u + cw * ch;
    const int a = y0 * cw + x0, b = y0 * cw + x1, c = y1 * cw + x0, d = y1 * cw + x1;

    const float cb = mix(mix((float)u[a], (float)u[b], right), mix((float)u[c], (float)u[d], right), below) - 128.0f;
    const float cr = mix(mix((float)v[a], (float)v[b], right), mix((float)v[c], (float)v[d], right), below) - 128.0f;
    const float luma = ((float)yuv[y * w + x] - (full ? 0.0f : 16.0f)) * (full ? 1.0f / 255 : 1.0f / 219);
    const float scale = full ? 1.0f / 255 : 1.0f / 224;
    out[y * w + x] = (float4)(luma + 1.5748f * scale * cr, luma - 0.187324f * scale * cb - 0.468124f * scale * cr,
                              luma + 1.8556f * scale * cb, 1.0f);
}
