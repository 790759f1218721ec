// check: --arg out=16x8:r,float --arg in=16x8:r,float:random --global 16x8 --local 8x4
// A read without a sampler has no addressing mode, and the first column has no left neighbour.
kernel void edges(write_only image2d_t out, read_only image2d_t in) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float here = read_imagef(in, p).x;
    float left = read_imagef(in, p - (int2)(1, 0)).x; //~ image-coordinates
    write_imagef(out, p, (float4)(here - left, 0.0f, 0.0f, 1.0f));
}
