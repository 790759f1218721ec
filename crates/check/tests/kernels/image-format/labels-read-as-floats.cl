// check: --arg out=64 --arg labels=8x8:r,unsigned_int8:random --global 8x8 --local 8x2
// The labels are unsigned integers, for which read_imagef is not defined.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void borders(global int *out, read_only image2d_t labels) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    uint here = read_imageui(labels, nearest, p).x;
    float right = read_imagef(labels, nearest, p + (int2)(1, 0)).x; //~ image-format
    out[8 * p.y + p.x] = here != (uint)right;
}
