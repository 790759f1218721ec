// check: --arg out=64 --arg in=8x8:r,float:random --global 8x8 --local 8x4
// The sampler promises that coordinates are inside of the image; the row below the last one is not.
constant sampler_t inside = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
kernel void slopes(global float *out, read_only image2d_t in) {
    int x = get_global_id(0), y = get_global_id(1);
    float here = read_imagef(in, inside, (int2)(x, y)).x;
    float below = read_imagef(in, inside, (float2)(x + 0.5f, y + 1.5f)).x; //~ image-coordinates
    out[8 * y + x] = below - here;
}
