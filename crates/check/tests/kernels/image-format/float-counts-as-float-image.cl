// check: --arg out=16x4:r,float --arg in=64:index --global 16x4 --local 8x4
// The count is converted to float before it is written.
kernel void counts(write_only image2d_t out, global const uint *in) {
    int x = get_global_id(0), y = get_global_id(1);
    uint count = popcount(in[16 * y + x]);
    write_imagef(out, (int2)(x, y), (float4)(count, 0.0f, 0.0f, 1.0f));
}
