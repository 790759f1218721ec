// A step of the Game of Life on bytes, sixteen cells a work-item. The board has a border of dead cells: a row above and
// below, sixteen columns left and right.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void life16(__global const uchar *in, __global uchar *out, const COUNT pitch, const COUNT height)
{
    const INDEX x = 16 * (get_global_id(0) + 1);
    const INDEX y = get_global_id(1) + 1;

    if (x + 16 >= pitch || y > height)
        return;

    __global const uchar *above = in + (y - 1) * pitch + x;
    __global const uchar *here = in + y * pitch + x;
    __global const uchar *below = in + (y + 1) * pitch + x;
    uchar16 sum = vload16(0, above - 1) + vload16(0, above) + vload16(0, above + 1);
    sum += vload16(0, here - 1) + vload16(0, here + 1);
    sum += vload16(0, below - 1) + vload16(0, below) + vload16(0, below + 1);
    const uchar16 alive = vload16(0, here);
    const char16 lives = sum == (uchar16)(3) || (sum == (uchar16)(2) && alive == (uchar16)(1));
    vstore16(as_uchar16(lives) & (uchar16)(1), 0, out + y * pitch + x);
}
