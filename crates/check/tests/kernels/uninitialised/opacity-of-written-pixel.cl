// check: --arg out=8x8:rgba,float --arg in=64:index --global 8x8 --local 4x4
// Red, green and blue are set; the opacity of the pixel is not.
kernel void paint(write_only image2d_t out, global const float *in) {
    int x = get_global_id(0), y = get_global_id(1);
    float v = in[8 * y + x] / 64.0f;
    float4 colour;
    colour.x = v;
    colour.y = v * v;
    colour.z = 1.0f - v;
    write_imagef(out, (int2)(x, y), colour); //~ uninitialised
}
