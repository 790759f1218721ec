// A picture turned by 90° counter-clockwise. `width` and `height` are those of `in`: they change places with each turn,
// so that no macro can tell them. Work-items side by side write side by side, and read down a column.

__kernel void rotation90_ocl(__global unsigned *in, __global unsigned *out, int rows, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < height && y < rows)
        out[y * height + x] = in[x * width + width - 1 - y];
}
