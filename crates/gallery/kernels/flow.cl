// Dense pyramidal optical flow after Lucas and Kanade. A level of the pyramid holds both frames in one buffer, one after
// the other; rows of floats have PAD repeated pixels at either end, so that filters need no test for the border. What is
// summed over the window lies in planes with a border of R zeros on all sides: pixels outside of the frame count nothing.
//
// -DR=, the window's radius; -DEDGE= and -DTRUST=, squares of grey levels, see claim; -DDAMPING=, see flow_solve;
// -DWINDOW_direct, -DWINDOW_separable or -DWINDOW_running: who does the sums.

#define PAD 2
#define SIDE (2 * R + 1)
// Rows that a work-item of flow_run goes down.
#define ROLL 32

// Bytes to floats, with repeated pixels at the ends of rows.
__kernel void flow_load(__global const uchar *first, __global const uchar *second, __global float *frames, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), pitch = w + 2 * PAD;
    if (x >= pitch || y >= h)
        return;
    const int from = y * w + clamp(x - PAD, 0, w - 1), to = y * pitch + x;
    frames[to] = first[from];
    frames[h * pitch + to] = second[from];
}

// Half as many rows: a Gaussian of five taps down each column, for every second row. Unit-stride reads.
__kernel void flow_down_y(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), pitch = w + 2 * PAD, small_h = (h + 1) / 2;
    if (x >= pitch || y >= small_h)
        return;
    const int frame = get_global_id(2);
    __global const float *p = in + frame * h * pitch + x;
    const int last = h - 1;
    out[(frame * small_h + y) * pitch + x] =
        (p[max(2 * y - 2, 0) * pitch] + p[min(2 * y + 2, last) * pitch]) * 0.0625f
        + (p[max(2 * y - 1, 0) * pitch] + p[min(2 * y + 1, last) * pitch]) * 0.25f + p[2 * y * pitch] * 0.375f;
}

// Half as many columns. Writes the repeated pixels too.
__kernel void flow_down_x(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), small_w = (w + 1) / 2;
    const int small_pitch = small_w + 2 * PAD, pitch = w + 2 * PAD;
    if (x >= small_pitch || y >= h)
        return;
    const int row = get_global_id(2) * h + y;
    __global const float *p = in + row * pitch + PAD + 2 * clamp(x - PAD, 0, small_w - 1);
    out[row * small_pitch + x] = (p[-2] + p[2]) * 0.0625f + (p[-1] + p[1]) * 0.25f + p[0] * 0.375f;
}

// The first frame's gradient by Scharr's filter.
__kernel void flow_gradient(__global const float *frames, __global float *gradient, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), pitch = w + 2 * PAD;
    if (x >= w || y >= h)
        return;
    __global const float *b = frames + y * pitch + x + PAD;
    __global const float *a = frames + max(y - 1, 0) * pitch + x + PAD;
    __global const float *c = frames + min(y + 1, h - 1) * pitch + x + PAD;
    const int i = y * w + x;
    gradient[i] = (3.0f * (a[1] - a[-1] + c[1] - c[-1]) + 10.0f * (b[1] - b[-1])) * 0.03125f;
    gradient[w * h + i] = (3.0f * (c[-1] - a[-1] + c[1] - a[1]) + 10.0f * (c[0] - a[0])) * 0.03125f;
}

// Sums down the columns by a running sum: a work-item adds the row that enters the window and subtracts the one that
// leaves it. It starts anew every ROLL rows, which bounds the rounding and gives the device more to do at once.
__kernel void flow_run(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), top = get_global_id(1) * ROLL, pitch = w + 2 * R;
    if (x >= w || top >= h)
        return;
    __global const float *p = in + get_global_id(2) * (h + 2 * R) * pitch + x + R;
    __global float *q = out + get_global_id(2) * h * pitch + x + R;
    const int end = min(top + ROLL, h);
    float sum = 0.0f;
    for (int y = top; y < top + 2 * R; y++)
        sum += p[y * pitch];
    for (int y = top; y < end; y++) {
        sum += p[(y + 2 * R) * pitch];
        q[y * pitch] = sum;
        sum -= p[y * pitch];
    }
}

// Sums along the rows, tap by tap; rows of the border are all zero and stay so.
__kernel void flow_rows(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), pitch = w + 2 * R;
    if (x >= w || y >= h)
        return;
    const int at = (get_global_id(2) * (h + 2 * R) + y + R) * pitch + x;
    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += in[at + k];
    out[at + R] = sum;
}

#if defined(WINDOW_running)
// The rest of the window's sum: along the row, whose numbers are sums down columns.
float window_sum(__global const float *p, int plane, int x, int y, int w, int h)
{
    p += (plane * h + y) * (w + 2 * R) + x;
    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += p[k];
    return sum;
}
#elif defined(WINDOW_separable)
// Down the column, whose numbers are sums along rows.
float window_sum(__global const float *p, int plane, int x, int y, int w, int h)
{
    p += (plane * (h + 2 * R) + y) * (w + 2 * R) + x + R;
    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += p[k * (w + 2 * R)];
    return sum;
}
#else
// All of it. A row at a time, so that rounding grows with the side and not with the area.
float window_sum(__global const float *p, int plane, int x, int y, int w, int h)
{
    p += (plane * (h + 2 * R) + y) * (w + 2 * R) + x;
    float sum = 0.0f;
    for (int j = 0; j < SIDE; j++) {
        float row = 0.0f;
        for (int k = 0; k < SIDE; k++)
            row += p[j * (w + 2 * R) + k];
        sum += row;
    }
    return sum;
}
#endif

// No motion: what the coarsest level starts from.
__kernel void flow_still(__global float *flow, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    flow[y * w + x] = 0.0f;
    flow[w * h + y * w + x] = 0.0f;
}

// The flow of the coarser level, twice as long; between its pixels the mean of the neighbours.
__kernel void flow_up(__global const float *coarse, __global float *flow, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const int cw = (w + 1) / 2, ch = (h + 1) / 2;
    const int left = x / 2, right = min((x + 1) / 2, cw - 1);
    const int above = y / 2 * cw, below = min((y + 1) / 2, ch - 1) * cw;
    const int i = y * w + x;
    __global const float *v = coarse + cw * ch;
    flow[i] = 0.5f * (coarse[above + left] + coarse[above + right] + coarse[below + left] + coarse[below + right]);
    flow[w * h + i] = 0.5f * (v[above + left] + v[above + right] + v[below + left] + v[below + right]);
}

// What each pixel says about the motion, from the second frame's value where the flow leads: the flow along its
// gradient that would explain the difference, with its weight. Strong edges weigh no more than their direction, or they
// would decide for the whole window; pixels that look unlike their place in the second frame, such as hidden ones, weigh
// little. A place outside of the frame says that the flow is right; the change is gradual, so that rounding cannot decide.
void claim(float sample, float here, float outside, __global const float *gradient, float u, float v,
           __global float *products, int x, int y, int w, int h)
{
    const int i = y * w + x, to = (y + R) * (w + 2 * R) + x + R, plane = (w + 2 * R) * (h + 2 * R);
    const float gx = gradient[i], gy = gradient[w * h + i];
    const float difference = (sample - here) * max(1.0f - outside, 0.0f);
    const float weight = EDGE * TRUST / ((gx * gx + gy * gy + EDGE) * (difference * difference + TRUST));
    const float e = gx * u + gy * v - difference, wx = weight * gx, wy = weight * gy;
    products[to] = wx * gx;
    products[plane + to] = wx * gy;
    products[2 * plane + to] = wy * gy;
    products[3 * plane + to] = wx * e;
    products[4 * plane + to] = wy * e;
}

__kernel void flow_warp(__global const float *frames, __global const float *gradient, __global const float *flow,
                        __global float *products, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), pitch = w + 2 * PAD;
    if (x >= w || y >= h)
        return;
    const int i = y * w + x;
    const float u = flow[i], v = flow[w * h + i];
    const float fx = x + u, fy = y + v;
    const float cx = clamp(fx, 0.0f, w - 1.0f), cy = clamp(fy, 0.0f, h - 1.0f);
    const int x0 = (int)cx, y0 = (int)cy;
    const float ax = cx - x0, ay = cy - y0;
    __global const float *p = frames + h * pitch + PAD;
    const int above = y0 * pitch + x0, below = min(y0 + 1, h - 1) * pitch + x0;
    const float top = p[above] + ax * (p[above + 1] - p[above]);
    const float bottom = p[below] + ax * (p[below + 1] - p[below]);
    claim(top + ay * (bottom - top), frames[y * pitch + x + PAD], max(fabs(fx - cx), fabs(fy - cy)), gradient,
          u, v, products, x, y, w, h);
}

// The flow that the window agrees on: the solution of its weighted normal equations. The damping holds it where it was
// in directions without structure.
__kernel void flow_solve(__global const float *sums, __global float *flow, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const int i = y * w + x, plane = w * h;
    const float a = window_sum(sums, 0, x, y, w, h) + DAMPING;
    const float b = window_sum(sums, 1, x, y, w, h);
    const float c = window_sum(sums, 2, x, y, w, h) + DAMPING;
    const float p = window_sum(sums, 3, x, y, w, h) + DAMPING * flow[i];
    const float q = window_sum(sums, 4, x, y, w, h) + DAMPING * flow[plane + i];
    const float scale = 1.0f / (a * c - b * b);
    flow[i] = (c * p - b * q) * scale;
    flow[plane + i] = (a * q - b * p) * scale;
}

float median5(float a, float b, float c, float d, float e)
{
    // Neither the smallest nor the largest of the first four is the median.
    const float low = fmax(fmin(a, b), fmin(c, d)), high = fmin(fmax(a, b), fmax(c, d));
    return fmax(fmin(low, high), fmin(fmax(low, high), e));
}

// The median of five along rows, then down columns, of both components (global id 2): removes what only a few pixels
// say, and keeps edges of the motion. Pixels with fewer than two neighbours on a side stay.
__kernel void flow_median_x(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const int i = (get_global_id(2) * h + y) * w + x;
    out[i] = x < 2 || x >= w - 2 ? in[i] : median5(in[i - 2], in[i - 1], in[i], in[i + 1], in[i + 2]);
}

__kernel void flow_median_y(__global const float *in, __global float *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const int i = (get_global_id(2) * h + y) * w + x;
    out[i] = y < 2 || y >= h - 2 ? in[i] : median5(in[i - 2 * w], in[i - w], in[i], in[i + w], in[i + 2 * w]);
}
