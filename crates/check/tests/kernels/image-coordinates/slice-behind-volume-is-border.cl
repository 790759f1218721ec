// check: --arg out=128 --arg volume=8x4x4:r,float:random --arg s=pixels,border,nearest --global 8x4x4 --local 4x4x2
// The sampler gives the colour of the border behind the last slice.
kernel void depth_slopes(global float *out, read_only image3d_t volume, sampler_t s) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float here = read_imagef(volume, (int4)(x, y, z, 0)).x;
    float next = read_imagef(volume, s, (int4)(x, y, z + 1, 0)).x;
    out[(4 * z + y) * 8 + x] = next - here;
}
