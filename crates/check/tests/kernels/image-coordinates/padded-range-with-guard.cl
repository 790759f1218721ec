// check: --arg out=13x11 --arg phase=3 --global 16x16 --local 8x8
// Work-items outside of the image do not write.
kernel void checkers(write_only image2d_t out, int phase) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= get_image_width(out) || y >= get_image_height(out))
        return;
    float v = (x + y + phase) & 4 ? 1.0f : 0.0f;
    write_imagef(out, (int2)(x, y), (float4)(v, v, v, 1.0f));
}
