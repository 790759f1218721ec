// check: --arg out=32 --arg in=32:r,signed_int16:random --global 32 --local 16
// The elements are signed; read_imageui is for unsigned ones.
kernel void positive(global uint *out, read_only image1d_t in) {
    int x = get_global_id(0);
    out[x] = min(read_imageui(in, x).x, 255u); //~ image-format
}
