// Inverse trigonometric functions of float: asin acos atan atan2 and their quotients by pi.
//
// In: floats; out: the result within 1 to 3 ULP, without branches. asin beyond 1/2 goes through
// asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), atan beyond 1 through pi/2 - atan(1 / x); between, minimax polynomials.

#define FN __attribute__((overloadable))
#define ATRIGF_PIO2_HI 0x1.921fb6p+0f
#define ATRIGF_PIO2_LO -0x1.777a5cp-25f

// x / pi, with the two-part inverse of pi.
static float atrigf_over_pi(float x)
{
    return __cl_fma(x, 0x1.45f306p-2f, x * 0x1.b9391p-27f);
}

// (asin(r) - r) / r^3 as a polynomial of z = r^2 <= 1/4
static float atrigf_asin_tail(float z)
{
    float p = __cl_fma(0x1.59b134p-5f, z, 0x1.8bccc2p-6f);
    p = __cl_fma(p, z, 0x1.7488bap-5f);
    p = __cl_fma(p, z, 0x1.33017p-4f);
    return __cl_fma(p, z, 0x1.5555cap-3f);
}

FN float asin(float x)
{
    float a = __cl_fabs(x);
    int small = a < 0.5f;
    float z = small ? a * a : __cl_fma(a, -0.5f, 0.5f);
    float r = small ? a : __cl_sqrt(z);
    float s = __cl_fma(z * atrigf_asin_tail(z), r, r);
    float big = ATRIGF_PIO2_HI - __cl_fma(2.0f, s, -ATRIGF_PIO2_LO);
    return __cl_copysign(small ? s : big, x);
}

FN float acos(float x)
{
    float a = __cl_fabs(x);
    int small = a < 0.5f;
    float z = small ? a * a : __cl_fma(a, -0.5f, 0.5f);
    float r = small ? x : __cl_sqrt(z);
    float s = __cl_fma(z * atrigf_asin_tail(z), r, r);
    float middle = ATRIGF_PIO2_HI - (s - ATRIGF_PIO2_LO);
    float right = s + s;
    float left = 2.0f * ATRIGF_PIO2_HI - __cl_fma(2.0f, s, -2.0f * ATRIGF_PIO2_LO);
    return small ? middle : (x < 0.0f ? left : right);
}

FN float asinpi(float x)
{
    return atrigf_over_pi(asin(x));
}

FN float acospi(float x)
{
    return atrigf_over_pi(acos(x));
}

// atan(r) for 0 <= r <= 1
static float atrigf_atan(float r)
{
    float z = r * r;
    float p = __cl_fma(0x1.85dbc4p-9f, z, -0x1.0fa7cap-6f);
    p = __cl_fma(p, z, 0x1.64c95ep-5f);
    p = __cl_fma(p, z, -0x1.368082p-4f);
    p = __cl_fma(p, z, 0x1.b56984p-4f);
    p = __cl_fma(p, z, -0x1.231b92p-3f);
    p = __cl_fma(p, z, 0x1.997ae6p-3f);
    p = __cl_fma(p, z, -0x1.5554e6p-2f);
    return __cl_fma(z * p, r, r);
}

FN float atan(float x)
{
    float a = __cl_fabs(x);
    int inverted = a > 1.0f;
    float y = atrigf_atan(inverted ? 1.0f / a : a);
    y = inverted ? ATRIGF_PIO2_HI - (y - ATRIGF_PIO2_LO) : y;
    return __cl_copysign(y, x);
}

FN float atanpi(float x)
{
    return atrigf_over_pi(atan(x));
}

// The quotient of the smaller by the larger of two magnitudes. 0/0 is a direction along the axis of x,
// infinity/infinity a diagonal.
static float atrigf_slope(float ax, float ay)
{
    float num = __cl_fmin(ax, ay);
    float den = __cl_fmax(ax, ay);
    float q = den == 0.0f ? 0.0f : num / den;
    return num == INFINITY ? 1.0f : q;
}

// From the angle a to the nearer axis: a, pi - a, pi/2 - a or pi/2 + a. One rounded sum, so that the axes are exact.
FN float atan2(float y, float x)
{
    float ax = __cl_fabs(x);
    float ay = __cl_fabs(y);
    int steep = ay > ax;
    int left = as_int(x) < 0;
    float a = atrigf_atan(atrigf_slope(ax, ay));
    a = steep != left ? -a : a;
    float quarters = steep ? 1.0f : (left ? 2.0f : 0.0f);
    a = __cl_fma(quarters, ATRIGF_PIO2_HI, __cl_fma(quarters, ATRIGF_PIO2_LO, a));
    return x != x || y != y ? NAN : __cl_copysign(a, y);
}

// Likewise in units of pi, where the axes and diagonals are halves and quarters.
FN float atan2pi(float y, float x)
{
    float ax = __cl_fabs(x);
    float ay = __cl_fabs(y);
    int steep = ay > ax;
    int left = as_int(x) < 0;
    float a = atrigf_over_pi(atrigf_atan(atrigf_slope(ax, ay)));
    a = steep != left ? -a : a;
    a += steep ? 0.5f : (left ? 1.0f : 0.0f);
    return x != x || y != y ? NAN : __cl_copysign(a, y);
}
