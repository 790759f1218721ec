// A picture is smoothed a little: half of each pixel and an eighth of each of its four neighbours. The same kernel
// under any shape of work-group: which rows and columns a group shares is what differs.

int4 shape_pixel(__global const unsigned *in, int x, int y)
{
    return convert_int4(as_uchar4(in[clamp(y, 0, HEIGHT - 1) * WIDTH + clamp(x, 0, WIDTH - 1)]));
}

__kernel void shape_ocl(__global const unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= WIDTH || y >= HEIGHT)
        return;

    const int4 across = shape_pixel(in, x - 1, y) + shape_pixel(in, x + 1, y);
    const int4 down = shape_pixel(in, x, y - 1) + shape_pixel(in, x, y + 1);
    const int4 sum = shape_pixel(in, x, y) * 4 + across + down + 4;
    out[y * WIDTH + x] = as_uint(convert_uchar4(sum / 8));
}
