// check: --arg out=8x16:r,unsigned_int32 --arg in=16x8:r,unsigned_int32:random --global 16x8 --local 4x4
// Width and height of the result are those of the source, swapped.
kernel void transpose(write_only image2d_t out, read_only image2d_t in) {
    int x = get_global_id(0), y = get_global_id(1);
    uint4 v = read_imageui(in, (int2)(x, y));
    write_imageui(out, (int2)(y, x), v);
}
