// check: --arg out=32:r,signed_int32 --arg in=32:index --global 32 --local 8
// All elements are written one to the right: the last one is behind the end of the line.
kernel void shift_line(write_only image1d_t out, global const int *in) {
    int x = get_global_id(0);
    write_imagei(out, x + 1, (int4)(in[x], 0, 0, 1)); //~ image-coordinates
}
