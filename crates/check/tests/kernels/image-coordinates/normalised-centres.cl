// check: --arg out=64 --arg in=8x8:r,float:random --arg s=normalized,none,nearest --global 8x8 --local 4x4
// The centres of the elements are all inside, also of the first and the last one.
kernel void copied(global float *out, read_only image2d_t in, sampler_t s) {
    int x = get_global_id(0), y = get_global_id(1);
    float2 size = convert_float2(get_image_dim(in));
    float2 at = ((float2)(x, y) + 0.5f) / size;
    out[8 * y + x] = read_imagef(in, s, at).x;
}
