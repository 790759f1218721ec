// The Mandelbrot set: how often z = z² + c can be repeated before |z| exceeds 2.
//
// Contraction is off, so that every platform rounds alike and the picture can be compared bit by bit.
#pragma OPENCL FP_CONTRACT OFF

unsigned mandel_colour(unsigned n)
{
    if (n >= MAX_ITERATIONS)
        return as_uint((uchar4)(0, 0, 0, 255));

    // Three triangle waves of different periods.
    const unsigned r = n * 5 % 512, g = n * 7 % 512, b = (n * 11 + 96) % 512;
    uchar4 pixel;
    pixel.x = r < 256 ? r : 511 - r;
    pixel.y = g < 256 ? g : 511 - g;
    pixel.z = b < 256 ? b : 511 - b;
    pixel.w = 255;
    return as_uint(pixel);
}

unsigned mandel_point(float cr, float ci)
{
    float zr = 0.0f, zi = 0.0f;
    unsigned n;

    for (n = 0; n < MAX_ITERATIONS; n++) {
        const float rr = zr * zr;
        const float ii = zi * zi;
        if (rr + ii > 4.0f)
            break;
        const float ri = zr * zi;
        zr = rr - ii + cr;
        zi = ri + ri + ci;
    }
    return n;
}

__kernel void mandel_ocl(__global unsigned *out, float left, float xstep, float top, float ystep, unsigned rows)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= WIDTH || y >= rows)
        return;

    out[y * WIDTH + x] = mandel_colour(mandel_point(left + xstep * x, top - ystep * y));
}
