// check: --arg out=72 --arg in=9x8:r,float:random --arg s=normalized,none,nearest --arg step=0.125 --global 9x8 --local 3x4
// The step is 1 / (width - 1): the last column has the normalised coordinate 1, which is behind the last element.
kernel void stretched(global float *out, read_only image2d_t in, sampler_t s, float step) {
    int x = get_global_id(0), y = get_global_id(1);
    float u = x * step;
    float v = (y + 0.5f) / get_image_height(in);
    out[9 * y + x] = read_imagef(in, s, (float2)(u, v)).x; //~ image-coordinates
}
