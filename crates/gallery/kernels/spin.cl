// Rays of yellow and blue around the middle of the picture: the angle at which a pixel lies gives its colour. `in` is not
// read; every kernel of this family has it.

__kernel void spin_ocl(__global unsigned *in, __global unsigned *out, unsigned rows, float base_angle)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x >= WIDTH || y >= rows)
        return;

    const float dx = x + 0.5f - WIDTH * 0.5f, dy = HEIGHT * 0.5f - (y + 0.5f);
    const float angle = atan2(dy, dx) + M_PI_F + base_angle;
    // A wave over the angle that is 1 between two rays and 0 in the middle of one. The angle is positive and small: a
    // product and a difference give its remainder, without the loop of fmod.
    const float eighths = angle * (4 / M_PI_F);
    const float ratio = fabs((eighths - floor(eighths)) * 2 - 1);
    const unsigned a = ratio * 255 + 0.5f, b = (1 - ratio) * 255 + 0.5f;

    out[y * WIDTH + x] = 0xff000000 | b << 16 | a << 8 | a;
}
