// A frame of a film to a word a pixel that holds all of it: luma, and both chroma values at the pixel's place in
// sixteenths, which is exact, for their shares are quarters of quarters. A quarter of the bytes of a pixel in floats.

// Two rows of a chroma plane, mixed for the row of the pixel: quarters.
typedef struct {
    __global const uchar *near, *far;
    uint share;
} Rows;

uint video_quarters(Rows rows, int x)
{
    return rows.share * rows.near[x] + (4 - rows.share) * rows.far[x];
}

// The chroma of a pair of pixels: that of its own columns, and of the next ones before and after.
uint2 video_sixteenths(Rows rows, int4 columns, uint2 shares)
{
    const uint before = video_quarters(rows, columns.x), even = video_quarters(rows, columns.y);
    const uint odd = video_quarters(rows, columns.z), after = video_quarters(rows, columns.w);
    return (uint2)(shares.x * even + (4 - shares.x) * before, shares.y * odd + (4 - shares.y) * after);
}

// Parameters as of `video_convert`. A work-item makes two pixels, which share a column of chroma where that is halved.
// Groups away from the ends of a row clamp nothing, so that their items read neighbours in memory.
__kernel void video_unpack(__global const uchar *restrict yuv, __global uint *restrict out, int w, int h, int shift_x,
                           int shift_y, int left)
{
    const int pair = get_global_id(0), y = get_global_id(1), x = 2 * pair;
    const int begin = get_group_id(0) * get_local_size(0), end = begin + get_local_size(0);
    const int cw = (w + shift_x) >> shift_x, ch = (h + shift_y) >> shift_y;
    if (x >= w || y >= h)
        return;

    const int y0 = y >> shift_y, y1 = clamp(y0 + ((y & 1) ? 1 : -1), 0, ch - 1);
    __global const uchar *u = yuv + w * h, *v = u + cw * ch;
    const uint share = shift_y ? 3 : 4;
    const Rows us = {u + y0 * cw, u + y1 * cw, share}, vs = {v + y0 * cw, v + y1 * cw, share};
    const uint2 shares = left ? (uint2)(4, 2) : (uint2)(3, 3);
    __global const uchar *luma = yuv + y * w + x;
    __global uint *to = out + y * w + x;

    if (shift_x && begin > 0 && 2 * end < w) {
        const int4 columns = (int4)(pair - 1, pair, pair, pair + 1);
        const uint2 cb = video_sixteenths(us, columns, shares), cr = video_sixteenths(vs, columns, shares);
        vstore2((uint2)(luma[0], luma[1]) | cb << 8 | cr << 20, 0, to);
    } else {
        const int odd = min(x + 1, w - 1);
        const int4 columns =
            shift_x ? (int4)(max(pair - 1, 0), pair, pair, min(pair + 1, cw - 1)) : (int4)(x, x, odd, odd);
        const uint2 cb = video_sixteenths(us, columns, shares), cr = video_sixteenths(vs, columns, shares);
        to[0] = luma[0] | cb.x << 8 | cr.x << 20;
        if (x + 1 < w)
            to[1] = luma[1] | cb.y << 8 | cr.y << 20;
    }
}
