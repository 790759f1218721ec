// check: --arg out=13x11 --arg phase=3 --global 16x16 --local 8x8
// The global size is rounded up to whole groups; columns from 13 and rows from 11 on are not in the image.
kernel void checkers(write_only image2d_t out, int phase) {
    int x = get_global_id(0), y = get_global_id(1);
    float v = (x + y + phase) & 4 ? 1.0f : 0.0f;
    write_imagef(out, (int2)(x, y), (float4)(v, v, v, 1.0f)); //~ image-coordinates
}
