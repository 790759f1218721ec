// A picture moved up by a row; the first row becomes the last.

__kernel void scrollup_ocl(__global unsigned *in, __global unsigned *out, unsigned rows)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < WIDTH && y < rows) {
        const int below = y + 1 < HEIGHT ? y + 1 : 0;
        out[y * WIDTH + x] = in[below * WIDTH + x];
    }
}
