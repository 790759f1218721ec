// check: --arg out=16x4:r,float --arg in=64:index --global 16x4 --local 8x4
// The result is an image of floats, and write_imageui writes unsigned integers.
kernel void counts(write_only image2d_t out, global const uint *in) {
    int x = get_global_id(0), y = get_global_id(1);
    uint count = popcount(in[16 * y + x]);
    write_imageui(out, (int2)(x, y), (uint4)(count, 0, 0, 1)); //~ image-format
}
