// check: --arg out=144 --arg in=4x4:r,float:random --arg s=normalized,repeat,nearest --global 12x12 --local 4x4
// The texture is laid out three times in each direction: coordinates from 1 on begin it anew.
kernel void tiled(global float *out, read_only image2d_t in, sampler_t s) {
    int x = get_global_id(0), y = get_global_id(1);
    float2 at = ((float2)(x, y) + 0.5f) / 4.0f;
    out[12 * y + x] = read_imagef(in, s, at).x;
}
