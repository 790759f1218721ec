// check: --arg out=16x8:r,float --arg in=16x8:r,float:random --global 16x8 --local 8x4
// Neighbours outside of the image are clamped to its edge by the sampler.
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void blur(write_only image2d_t out, read_only image2d_t in) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += read_imagef(in, edge, p + (int2)(dx, dy)).x;
    write_imagef(out, p, (float4)(sum / 25.0f, 0.0f, 0.0f, 1.0f));
}
