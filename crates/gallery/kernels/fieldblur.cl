// Field blur: each pixel is the mean of its neighbours under an aperture, a polygon of BLADES sides (0: a disc) whose
// radius is interpolated from pins. A launch works on a tile of `w` by `h` pixels at (left, top) of the picture; its
// input has HALO more pixels on each side, so that no access needs a check.
//
// The weight of a pixel is what the aperture covers of it: the height that it shares with the row, times the width that
// the row's span, taken at the middle of that height, shares with the pixel.
//
// Pixels are numbers in linear light times their weight, whole numbers below 2^24 with the weight as the fourth.

__constant float pin_x[PINS] = { PIN_X };
__constant float pin_y[PINS] = { PIN_Y };
__constant float pin_r[PINS] = { PIN_R };

#if BLADES
// x <= r * at - y * slope on the right sides, x >= the same on the left ones.
__constant float right_at[RIGHT] = { RIGHT_AT };
__constant float right_slope[RIGHT] = { RIGHT_SLOPE };
__constant float left_at[LEFT] = { LEFT_AT };
__constant float left_slope[LEFT] = { LEFT_SLOPE };
#endif

// Shepard's interpolation with the fourth power of the distance: exactly a pin's radius at the pin.
float radius_at(int x, int y)
{
    float sum = 0.0f, weights = 0.0f;
    for (int i = 0; i < PINS; i++) {
        const float dx = ((float)x + 0.5f - pin_x[i]) * SCALE, dy = ((float)y + 0.5f - pin_y[i]) * SCALE;
        const float d = fmax(dx * dx + dy * dy, 1e-8f);
        const float weight = 1.0f / (d * d);
        sum += weight * pin_r[i];
        weights += weight;
    }
    // An aperture of half a pixel covers nothing but the pixel itself.
    return fmax(sum / weights, 0.5f);
}

float left_end(float r, float y)
{
#if BLADES
    float x = r * left_at[0] - y * left_slope[0];
    for (int i = 1; i < LEFT; i++)
        x = fmax(x, r * left_at[i] - y * left_slope[i]);
    return x;
#else
    return -sqrt(fmax(r * r - y * y, 0.0f));
#endif
}

float right_end(float r, float y)
{
#if BLADES
    float x = r * right_at[0] - y * right_slope[0];
    for (int i = 1; i < RIGHT; i++)
        x = fmin(x, r * right_at[i] - y * right_slope[i]);
    return x;
#else
    return sqrt(fmax(r * r - y * y, 0.0f));
#endif
}

// Bright pixels weigh more, as if the sensor had not clipped them; the brightest channel counts, so that coloured lights do.
uint4 weigh(uint pixel, __global const uint *linear)
{
    const uint r = linear[pixel & 255], g = linear[pixel >> 8 & 255], b = linear[pixel >> 16 & 255];
    const int over = (int)max(max(r, g), b) - BRIGHT;
    const uint t = max(over, 0) * 256 / (16384 - BRIGHT);
    const uint weight = 64 + LIGHT * t * t / 1024;
    return (uint4)(r * weight, g * weight, b * weight, weight);
}

float4 mean(float4 sum)
{
    return (float4)(sum.xyz / (sum.w * 16384.0f), 1.0f);
}

__kernel void fieldblur_weigh(__global const uint *in, __global const uint *linear, __global float4 *out, int count)
{
    const int i = get_global_id(0);
    if (i < count)
        out[i] = convert_float4(weigh(in[i], linear));
}

// Every pixel of the aperture is read.
__kernel void fieldblur_direct(__global const float4 *in, __global float4 *out, int w, int h, int left, int top)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float r = radius_at(left + x, top + y);
    const float low = r * LOW, high = r * HIGH;
    const int last = (int)floor(high + 0.5f);
    float4 sum = 0.0f;
    for (int dy = (int)ceil(low - 0.5f); dy <= last; dy++) {
        const float from = fmax(dy - 0.5f, low), to = fmin(dy + 0.5f, high);
        const float middle = 0.5f * (from + to);
        const float xl = left_end(r, middle), xr = fmax(right_end(r, middle), xl);
        const int end = (int)floor(xr + 0.5f);
        __global const float4 *row = in + (y + dy + HALO) * (w + 2 * HALO) + x + HALO;
        float4 part = 0.0f;
        for (int dx = (int)floor(xl + 0.5f); dx <= end; dx++)
            part += fmax(fmin(dx + 0.5f, xr) - fmax(dx - 0.5f, xl), 0.0f) * row[dx];
        sum += (to - from) * part;
    }
    out[y * w + x] = mean(sum);
}

// The sums of what is left of each pixel of a row, and at its end of the whole row. They may wrap around: differences of
// two that are up to 2 * 64 + 1 pixels apart are right all the same.
__kernel void fieldblur_prefix(__global const uint *in, __global const uint *linear, __global uint4 *out, int w, int h)
{
    const int y = get_global_id(0);
    if (y >= h)
        return;

    uint4 sum = 0;
    for (int x = 0; x < w; x++) {
        out[y * (w + 1) + x] = sum;
        sum += weigh(in[y * w + x], linear);
    }
    out[y * (w + 1) + w] = sum;
}

// A row of the aperture is a difference of two sums, whole numbers and therefore exact, and parts of the pixels at its
// ends.
__kernel void fieldblur_rows(__global const uint4 *sums, __global float4 *out, int w, int h, int left, int top)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float r = radius_at(left + x, top + y);
    const float low = r * LOW, high = r * HIGH;
    const int last = (int)floor(high + 0.5f);
    float4 sum = 0.0f;
    for (int dy = (int)ceil(low - 0.5f); dy <= last; dy++) {
        const float from = fmax(dy - 0.5f, low), to = fmin(dy + 0.5f, high);
        const float middle = 0.5f * (from + to);
        const float xl = left_end(r, middle) + 0.5f, xr = fmax(right_end(r, middle) + 0.5f, xl);
        const float first = floor(xl), end = floor(xr);
        __global const uint4 *row = sums + (y + dy + HALO) * (w + 2 * HALO + 1) + x + HALO;
        const uint4 a = row[(int)first], b = row[(int)end];
        const uint4 after_a = row[(int)first + 1], after_b = row[(int)end + 1];
        sum += (to - from) * (convert_float4(as_int4(b - a)) + (xr - end) * convert_float4(as_int4(after_b - b))
            - (xl - first) * convert_float4(as_int4(after_a - a)));
    }
    out[y * w + x] = mean(sum);
}

// Bytes in sRGB.
uint encode(float c)
{
    const float e = c <= 0.0031308f ? 12.92f * c : 1.055f * powr(c, 1.0f / 2.4f) - 0.055f;
    return (uint)(clamp(e, 0.0f, 1.0f) * 255.0f + 0.5f);
}

__kernel void fieldblur_pack(__global const float4 *in, __global uint *out, int count)
{
    const int i = get_global_id(0);
    if (i < count) {
        const float4 c = in[i];
        out[i] = encode(c.x) | encode(c.y) << 8 | encode(c.z) << 16 | 0xff000000;
    }
}

// Single results, for the host to check.
__kernel void fieldblur_pick(__global const float4 *in, __global const uint *where, __global float4 *out, int count)
{
    const int i = get_global_id(0);
    if (i < count)
        out[i] = in[where[i]];
}
