// Two fields, taken one after the other, lie in the even and the odd rows of a frame. These kernels make a frame of one
// of them, plane by plane, before the conversion to pixels: integers, so that every device gives the same.

// The rows of the other field, from those above and below: along the edge that runs through the pixel, which is the
// direction in which the two differ least (the ELA method; T. Doyle, 1990).
__kernel void video_deinterlace_edge(__global const uchar *restrict in, __global uchar *restrict out, int w, int h,
                                     int first, int keep)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int here = first + y * w;
    if ((y & 1) == keep) {
        out[here + x] = in[here + x];
        return;
    }
    // At the upper and the lower end the only neighbour counts twice; a plane of one row has none.
    const int above = h == 1 ? here : first + (y > 0 ? y - 1 : y + 1) * w;
    const int below = h == 1 ? here : first + (y + 1 < h ? y + 1 : y - 1) * w;
    const int l = max(x - 1, 0), r = min(x + 1, w - 1);
    const int a0 = in[above + l], a1 = in[above + x], a2 = in[above + r];
    const int b0 = in[below + l], b1 = in[below + x], b2 = in[below + r];
    const int straight = abs(a1 - b1), falling = abs(a0 - b2), rising = abs(a2 - b0);
    // Without a better direction it is the straight one.
    const int slanted = falling <= rising ? a0 + b2 : a2 + b0;
    const int sum = min(falling, rising) < straight ? slanted : a1 + b1;
    out[here + x] = (sum + 1) >> 1;
}

// The mean of the rows above and below.
__kernel void video_deinterlace_linear(__global const uchar *restrict in, __global uchar *restrict out, int w, int h,
                                       int first, int keep)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int here = first + y * w + x;
    const int above = h == 1 ? here : (y > 0 ? here - w : here + w);
    const int below = h == 1 ? here : (y + 1 < h ? here + w : here - w);
    out[here] = (y & 1) == keep ? in[here] : (in[above] + in[below] + 1) >> 1;
}

// Each row of the field twice: fast, and half of the picture's detail.
__kernel void video_deinterlace_bob(__global const uchar *restrict in, __global uchar *restrict out, int w, int h,
                                    int first, int keep)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int other = y > 0 ? y - 1 : min(1, h - 1);
    out[first + y * w + x] = in[first + ((y & 1) == keep ? y : other) * w + x];
}

// Both fields, each row with a share of its neighbours: what moves is doubled instead of combed.
__kernel void video_deinterlace_blend(__global const uchar *restrict in, __global uchar *restrict out, int w, int h,
                                      int first, int keep)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const int above = max(y - 1, 0), below = min(y + 1, h - 1);
    __global const uchar *p = in + first + x;
    out[first + y * w + x] = (p[above * w] + 2 * p[y * w] + p[below * w] + 2) >> 2;
}
