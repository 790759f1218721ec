// The dual-tree complex wavelet transform of a picture: four real transforms at once, one for each way to take one of
// two trees of filters along rows and along columns, side by side in a float4 (row tree, column tree: a a, a b, b a, b
// b). Lines are periodic. A filter has TAPS rows; its lanes are those of the transforms.

__kernel void wavelet_spread(__global const float *in, __global float4 *out, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < width && y < height)
        out[y * width + x] = in[y * width + x];
}

// The mean of the four.
__kernel void wavelet_gather(__global const float4 *in, __global float *out, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < width && y < height) {
        const float4 v = in[y * width + x];
        out[y * width + x] = (v.x + v.y + v.z + v.w) * 0.25f;
    }
}

// `count` lines of `length` elements, each `step` apart and the lines `pitch` apart, become a low half and a high half.
// A work-item computes one element of each.
__kernel void wavelet_analyse(__global const float4 *in, __global float4 *out, __global const float4 *low,
                              __global const float4 *high, int along_rows, int length, int count, int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int k = along_rows ? x : y, line = along_rows ? y : x;
    if (k >= length / 2 || line >= count)
        return;

    const int step = along_rows ? 1 : width, pitch = along_rows ? width : 1;
    __global const float4 *from = in + line * pitch;
    float4 l = (float4)(0.0f), h = (float4)(0.0f);
    int i = 2 * k;
    for (int t = 0; t < TAPS; t++) {
        const float4 v = from[i * step];
        l += low[t] * v;
        h += high[t] * v;
        i = i + 1 == length ? 0 : i + 1;
    }
    out[line * pitch + k * step] = l;
    out[line * pitch + (k + length / 2) * step] = h;
}

// And back. A work-item computes two neighbours: the even taps make the one, the odd taps the other.
__kernel void wavelet_synthesise(__global const float4 *in, __global float4 *out, __global const float4 *low,
                                 __global const float4 *high, int along_rows, int length, int count, int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int k = along_rows ? x : y, line = along_rows ? y : x;
    const int half_length = length / 2;
    if (k >= half_length || line >= count)
        return;

    const int step = along_rows ? 1 : width, pitch = along_rows ? width : 1;
    __global const float4 *from = in + line * pitch;
    float4 even = (float4)(0.0f), odd = (float4)(0.0f);
    int i = k;
    for (int t = 0; t < TAPS; t += 2) {
        const float4 l = from[i * step], h = from[(i + half_length) * step];
        even += low[t] * l + high[t] * h;
        odd += low[t + 1] * l + high[t + 1] * h;
        i = i == 0 ? half_length - 1 : i - 1;
    }
    out[line * pitch + 2 * k * step] = even;
    out[line * pitch + (2 * k + 1) * step] = odd;
}

// Sums and differences of the details, which make them the real and imaginary parts of waves in six directions; its own
// inverse. The result of the last low pass, low_width by low_height elements, is not changed.
__kernel void wavelet_combine(__global const float4 *in, __global float4 *out, int width, int height, int low_width, int low_height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    const float4 v = in[y * width + x];
    const float r = 0.70710678f;
    out[y * width + x] = x < low_width && y < low_height
                             ? v
                             : (float4)((v.x + v.w) * r, (v.y + v.z) * r, (v.y - v.z) * r, (v.x - v.w) * r);
}
