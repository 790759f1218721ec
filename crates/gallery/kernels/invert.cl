// The inverse colours of a picture; its alpha, the highest byte, stays as it is.

__kernel void invert_ocl(__global unsigned *in, __global unsigned *out, unsigned rows)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x < WIDTH && y < rows)
        out[y * WIDTH + x] = in[y * WIDTH + x] ^ 0x00ffffff;
}
