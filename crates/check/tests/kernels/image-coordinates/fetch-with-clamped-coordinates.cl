// check: --arg out=16x8:r,float --arg in=16x8:r,float:random --global 16x8 --local 8x4
// The kernel clamps the coordinates itself, and reads without a sampler.
kernel void edges(write_only image2d_t out, read_only image2d_t in) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int2 last = get_image_dim(in) - 1;
    float left = read_imagef(in, clamp(p - (int2)(1, 0), (int2)(0), last)).x;
    float right = read_imagef(in, clamp(p + (int2)(1, 0), (int2)(0), last)).x;
    write_imagef(out, p, (float4)(right - left, 0.0f, 0.0f, 1.0f));
}
