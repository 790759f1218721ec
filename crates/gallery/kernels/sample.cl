// The first kernel of a course: each work-item colours its own pixel by its position.

__kernel void sample_ocl(__global unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= WIDTH || y >= HEIGHT)
        return;

    uchar4 pixel;
    pixel.x = 255 * x / WIDTH;
    pixel.y = 255 * y / HEIGHT;
    pixel.z = (x / 32 + y / 32) % 2 * 128;
    pixel.w = 255;
    out[y * WIDTH + x] = as_uint(pixel);
}
