// check: --arg out=8x8:r,signed_int16 --arg labels=8x8:r,unsigned_int8:random --global 8x8 --local 8x2
// Unsigned integers are read, and signed ones are written, each by its function.
kernel void differences(write_only image2d_t out, read_only image2d_t labels) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int here = read_imageui(labels, p).x;
    int left = p.x > 0 ? (int)read_imageui(labels, p - (int2)(1, 0)).x : 0;
    write_imagei(out, p, (int4)(here - left, 0, 0, 1));
}
