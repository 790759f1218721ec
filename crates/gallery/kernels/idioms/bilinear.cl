// A picture at another size, between four neighbours of an array.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void bilinear(__global const float *in, __global float *out, const COUNT in_width, const COUNT in_height,
                       const COUNT width, const COUNT height)
{
    const INDEX x = get_global_id(0);
    const INDEX y = get_global_id(1);

    if (x >= width || y >= height)
        return;

    const float sx = (float)(in_width - 1) * x / width;
    const float sy = (float)(in_height - 1) * y / height;
    const INDEX x0 = (INDEX)sx, y0 = (INDEX)sy;
    const INDEX x1 = x0 + 1 < in_width ? x0 + 1 : x0;
    const INDEX y1 = y0 + 1 < in_height ? y0 + 1 : y0;
    const float fx = sx - x0, fy = sy - y0;
    const float top = mix(in[y0 * in_width + x0], in[y0 * in_width + x1], fx);
    const float bottom = mix(in[y1 * in_width + x0], in[y1 * in_width + x1], fx);
    out[y * width + x] = mix(top, bottom, fy);
}
