// check: --arg out=64 --arg in=8x8:rgba,unorm_int8:random --global 8x8 --local 4x4
// An image of CL_UNORM_INT8 is read by read_imagef only.
kernel void luminance(global int *out, read_only image2d_t in) {
    int x = get_global_id(0), y = get_global_id(1);
    int4 c = read_imagei(in, (int2)(x, y)); //~ image-format
    out[8 * y + x] = (77 * c.x + 150 * c.y + 29 * c.z) >> 8;
}
