// Inverse trigonometric functions of double: asin acos atan atan2 and their quotients by pi.
//
// asin as in atrig_f32.cl. For the arc tangent the interval is halved once more, by atan(n / d) =
// pi/4 + atan((n - d) / (n + d)), because the series on [0, 1] would be twice as long; the division is the same one.

#define FN __attribute__((overloadable))
#define ATRIGD_PIO2_HI 0x1.921fb54442d18p+0
#define ATRIGD_PIO2_LO 0x1.1a62633145c07p-54

// x / pi, with the two-part inverse of pi; the parts differ in sign, so that a zero has to get its own back.
static double atrigd_over_pi(double x)
{
    return __cl_copysign(__cl_fma(x, 0x1.45f306dc9c883p-2, x * -0x1.6b01ec5417056p-56), x);
}

// (asin(r) - r) / r^3 as a polynomial of z = r^2 <= 1/4
static double atrigd_asin_tail(double z)
{
    double w = z * z;
    double a = __cl_fma(-0x1.0ae72eb3f7c22p-6, w, 0x1.aac022a31203cp-8);
    double b = __cl_fma(0x1.05c9aa25cff0cp-5, w, 0x1.40a93d2eed0c7p-6);
    a = __cl_fma(a, w, 0x1.c6f8b29425175p-7);
    b = __cl_fma(b, w, 0x1.8ee33e2ca2a5dp-7);
    a = __cl_fma(a, w, 0x1.6e89efa072492p-6);
    b = __cl_fma(b, w, 0x1.1c6c253a51029p-6);
    a = __cl_fma(a, w, 0x1.6db6db41d6b8cp-5);
    b = __cl_fma(b, w, 0x1.f1c72c6bf6716p-6);
    a = __cl_fma(a, w, 0x1.5555555555387p-3);
    b = __cl_fma(b, w, 0x1.333333336f878p-4);
    return __cl_fma(b, z, a);
}

FN double asin(double x)
{
    double a = __cl_fabs(x);
    int small = a < 0.5;
    double z = small ? a * a : __cl_fma(a, -0.5, 0.5);
    double r = small ? a : __cl_sqrt(z);
    double s = __cl_fma(z * atrigd_asin_tail(z), r, r);
    double big = ATRIGD_PIO2_HI - __cl_fma(2.0, s, -ATRIGD_PIO2_LO);
    return __cl_copysign(small ? s : big, x);
}

FN double acos(double x)
{
    double a = __cl_fabs(x);
    int small = a < 0.5;
    double z = small ? a * a : __cl_fma(a, -0.5, 0.5);
    double r = small ? x : __cl_sqrt(z);
    double s = __cl_fma(z * atrigd_asin_tail(z), r, r);
    double middle = ATRIGD_PIO2_HI - (s - ATRIGD_PIO2_LO);
    double right = s + s;
    double left = 2.0 * ATRIGD_PIO2_HI - __cl_fma(2.0, s, -2.0 * ATRIGD_PIO2_LO);
    return small ? middle : (x < 0.0 ? left : right);
}

FN double asinpi(double x)
{
    return atrigd_over_pi(asin(x));
}

FN double acospi(double x)
{
    return atrigd_over_pi(acos(x));
}

// atan(n / d) for 0 <= n <= d, d > 0, finite.
static double atrigd_atan(double n, double d)
{
    // tan(pi/8): beyond, the angle is counted from the diagonal.
    int near = n > 0x1.a827999fcef32p-2 * d;
    double r = (near ? n - d : n) / (near ? n + d : d);
    double z = r * r;
    double w = z * z;
    double a = __cl_fma(-0x1.2570664ab07c9p-6, w, -0x1.9cd44f1d27c95p-5);
    double b = __cl_fma(0x1.37d90900e0138p-5, w, 0x1.df0fb0a9ad9b8p-5);
    a = __cl_fma(a, w, -0x1.10ebbff276769p-4);
    b = __cl_fma(b, w, 0x1.3b1119d3a3a03p-4);
    a = __cl_fma(a, w, -0x1.745cf8e6d59a6p-4);
    b = __cl_fma(b, w, 0x1.c71c70e665612p-4);
    a = __cl_fma(a, w, -0x1.24924922ae045p-3);
    b = __cl_fma(b, w, 0x1.999999999586fp-3);
    a = __cl_fma(a, w, -0x1.555555555553dp-2);
    double y = __cl_fma(z * __cl_fma(b, z, a), r, r);
    return near ? 0.5 * ATRIGD_PIO2_HI + (y + 0.5 * ATRIGD_PIO2_LO) : y;
}

FN double atan(double x)
{
    double a = __cl_fabs(x);
    int inverted = a > 1.0;
    // An infinite divisor would make the sum of both meaningless; 2^100 is as good.
    double c = __cl_fmin(a, 0x1p+100);
    double y = atrigd_atan(inverted ? 1.0 : a, inverted ? c : 1.0);
    y = inverted ? ATRIGD_PIO2_HI - (y - ATRIGD_PIO2_LO) : y;
    return x != x ? x : __cl_copysign(y, x);
}

FN double atanpi(double x)
{
    return atrigd_over_pi(atan(x));
}

// The angle of two magnitudes to the nearer axis, of x where both are 0.
static double atrigd_acute(double ax, double ay)
{
    double num = __cl_fmin(ax, ay);
    double den = __cl_fmax(ax, ay);
    // The sum of two huge ones would overflow, and the multiple of a denormal one have no bits left; 0/0 is along the
    // axis of x, infinity/infinity a diagonal.
    double scale = den > 0x1p+1000 ? 0x1p-100 : (den < 0x1p-900 ? 0x1p+100 : 1.0);
    num = num == INFINITY ? 1.0 : (den == INFINITY ? 0.0 : num * scale);
    den = den == INFINITY || den == 0.0 ? 1.0 : den * scale;
    return atrigd_atan(num, den);
}

// As in atrig_f32.cl.
FN double atan2(double y, double x)
{
    double ax = __cl_fabs(x);
    double ay = __cl_fabs(y);
    int steep = ay > ax;
    int left = as_long(x) < 0;
    double a = atrigd_acute(ax, ay);
    a = steep != left ? -a : a;
    double quarters = steep ? 1.0 : (left ? 2.0 : 0.0);
    a = __cl_fma(quarters, ATRIGD_PIO2_HI, __cl_fma(quarters, ATRIGD_PIO2_LO, a));
    return x != x || y != y ? NAN : __cl_copysign(a, y);
}

FN double atan2pi(double y, double x)
{
    double ax = __cl_fabs(x);
    double ay = __cl_fabs(y);
    int steep = ay > ax;
    int left = as_long(x) < 0;
    double a = atrigd_over_pi(atrigd_acute(ax, ay));
    a = steep != left ? -a : a;
    a += steep ? 0.5 : (left ? 1.0 : 0.0);
    return x != x || y != y ? NAN : __cl_copysign(a, y);
}
