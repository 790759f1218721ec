// Error and gamma functions of double: erf erfc tgamma lgamma lgamma_r.
//
// The error functions as in special_f32.cl. gamma is a polynomial on [1, 2], reached from below 10 by exact steps of
// one, and Stirling's formula beyond; its power is the square of pow(x, x/2 - 1/4), whose exponent is exact and which
// does not overflow before the result. Polynomials are evaluated as two chains, of the even and the odd coefficients.

#define FN __attribute__((overloadable))

// (erf(x) - x) / x as a polynomial of z = x^2 <= 1
static double speciald_erf_tail(double z)
{
    double w = z * z;
    double a = __cl_fma(0x1.7f16d5f5fc22fp-34, w, 0x1.fc43ed8abe67ap-27);
    a = __cl_fma(a, w, 0x1.b9e65189b5686p-20);
    a = __cl_fma(a, w, 0x1.f9a326c2d626dp-14);
    a = __cl_fma(a, w, 0x1.565bcd0e6518dp-8);
    a = __cl_fma(a, w, 0x1.ce2f21a042bdep-4);
    a = __cl_fma(a, w, 0x1.06eba8214db69p-3);
    double b = __cl_fma(-0x1.29e0975fa163fp-38, w, -0x1.4e634de56f1d3p-30);
    b = __cl_fma(b, w, -0x1.5f6d9c8f93a62p-23);
    b = __cl_fma(b, w, -0x1.f4d25629ce7d8p-17);
    b = __cl_fma(b, w, -0x1.c02db3fef0041p-11);
    b = __cl_fma(b, w, -0x1.b82ce312889c2p-6);
    b = __cl_fma(b, w, -0x1.812746b0379e7p-2);
    return __cl_fma(b, z, a);
}

// (1 + 2x) e^(x^2) erfc(x) as a polynomial of t = (x - 3) / (x + 3), for 1/2 <= x <= 28
static double speciald_erfcx(double t)
{
    double w = t * t;
    double a = __cl_fma(-0x1.0e7295e39da8dp-28, w, 0x1.1d43266d198acp-25);
    a = __cl_fma(a, w, -0x1.1dfbf2101fd3ep-23);
    a = __cl_fma(a, w, 0x1.79ec9336f5958p-22);
    a = __cl_fma(a, w, -0x1.87cb9d5fe08dap-21);
    a = __cl_fma(a, w, 0x1.4c20f1c7075d9p-18);
    a = __cl_fma(a, w, -0x1.b9126bd78e312p-14);
    a = __cl_fma(a, w, 0x1.ef1bdd3c19e1dp-10);
    a = __cl_fma(a, w, -0x1.8574c40bc5f4bp-6);
    a = __cl_fma(a, w, -0x1.e88b803a493f1p-4);
    a = __cl_fma(a, w, -0x1.85a15c58aa5cap-5);
    a = __cl_fma(a, w, 0x1.40c522d7e4987p+0);
    double b = __cl_fma(-0x1.7cb7a1d49e30cp-27, w, 0x1.ad2c029fe2c7fp-24);
    b = __cl_fma(b, w, -0x1.4ab43b6bd964bp-21);
    b = __cl_fma(b, w, 0x1.d2125b23a726bp-19);
    b = __cl_fma(b, w, -0x1.513bfff6af63p-16);
    b = __cl_fma(b, w, 0x1.065a3d4789c91p-13);
    b = __cl_fma(b, w, -0x1.98db51536605cp-11);
    b = __cl_fma(b, w, 0x1.4b884e45a824bp-9);
    b = __cl_fma(b, w, 0x1.17ca2877f063fp-4);
    b = __cl_fma(b, w, 0x1.098366a5b46e2p-3);
    b = __cl_fma(b, w, -0x1.15c084bb9e8f3p-3);
    return __cl_fma(b, t, a);
}

// erfc(a) for a >= 1/2
static double speciald_erfc(double a)
{
    a = __cl_fmin(a, 28.0);
    double p = speciald_erfcx((a - 3.0) / (a + 3.0));
    // e^(-a^2) corrected for the rounding error of the square.
    double z = a * a;
    double l = __cl_fma(a, a, -z);
    double g = p / (a + a + 1.0);
    g = __cl_fma(-l, g, g);
    // For large a in two factors: the exponential alone would lose bits as a denormal number. 128 - z is exact there.
    int far = z > 512.0;
    return exp(far ? 128.0 - z : -z) * g * (far ? 0x1.42eb9f39afb0bp-185 : 1.0);
}

FN double erf(double x)
{
    double a = __cl_fabs(x);
    double small = __cl_fma(a, speciald_erf_tail(a * a), a);
    double y = a < 1.0 ? small : 1.0 - speciald_erfc(a);
    return x != x ? x : __cl_copysign(y, x);
}

FN double erfc(double x)
{
    double a = __cl_fabs(x);
    double small = 1.0 - __cl_fma(x, speciald_erf_tail(a * a), x);
    double far = speciald_erfc(a);
    far = x < 0.0 ? 2.0 - far : far;
    return x != x ? x : (a < 0.5 ? small : far);
}

// gamma(3/2 + u) for |u| <= 1/2
static double speciald_gamma_middle(double u)
{
    double w = u * u;
    double a = __cl_fma(0x1.8e589adc492f2p-12, w, 0x1.5bc740e371734p-12);
    a = __cl_fma(a, w, 0x1.15229b18fbcc5p-10);
    a = __cl_fma(a, w, 0x1.29fc45888c381p-9);
    a = __cl_fma(a, w, 0x1.5063b1dd85075p-8);
    a = __cl_fma(a, w, 0x1.7990f278fcc55p-7);
    a = __cl_fma(a, w, 0x1.a752cd0e4b5f3p-6);
    a = __cl_fma(a, w, 0x1.e022b72990f43p-5);
    a = __cl_fma(a, w, 0x1.283bd37505c7ep-3);
    a = __cl_fma(a, w, 0x1.a8c4dba620cp-2);
    a = __cl_fma(a, w, 0x1.c5bf891b4ef6bp-1);
    double b = __cl_fma(-0x1.196f5c87b788ap-12, w, -0x1.a60fc9a6a60d4p-13);
    b = __cl_fma(b, w, -0x1.776550f9a0df9p-11);
    b = __cl_fma(b, w, -0x1.8c775285a418cp-10);
    b = __cl_fma(b, w, -0x1.c0d4fb1df7e4ep-9);
    b = __cl_fma(b, w, -0x1.f7f9b9aaa7a71p-8);
    b = __cl_fma(b, w, -0x1.1a2c3484aca42p-6);
    b = __cl_fma(b, w, -0x1.374fd593835bap-5);
    b = __cl_fma(b, w, -0x1.3d88cfe5aa69bp-4);
    b = __cl_fma(b, w, -0x1.b77ac1ca2d034p-4);
    b = __cl_fma(b, w, 0x1.08ea88ee56186p-5);
    return __cl_fma(b, u, a);
}

// log(gamma(y)) / ((y - 1) (y - 2)) at y = 3/2 + u for |u| <= 1/2
static double speciald_lgamma_middle(double u)
{
    double w = u * u;
    double a = __cl_fma(0x1.97a881b2d9239p-17, w, 0x1.ba10e24185fdep-17);
    a = __cl_fma(a, w, 0x1.68fe426fd5503p-15);
    a = __cl_fma(a, w, 0x1.b9e24af7a7b9fp-14);
    a = __cl_fma(a, w, 0x1.1c7e4fd8997d4p-12);
    a = __cl_fma(a, w, 0x1.750a77d01a377p-11);
    a = __cl_fma(a, w, 0x1.f814babecb65dp-10);
    a = __cl_fma(a, w, 0x1.64f0664c3697p-8);
    a = __cl_fma(a, w, 0x1.133423527f3e4p-6);
    a = __cl_fma(a, w, 0x1.01af62a2929bfp-4);
    a = __cl_fma(a, w, 0x1.eeb95b094c191p-2);
    double b = __cl_fma(-0x1.12e66fe1ce39fp-17, w, -0x1.0556379a3dcffp-17);
    b = __cl_fma(b, w, -0x1.cdb63e1d054d1p-16);
    b = __cl_fma(b, w, -0x1.14ff2b580bc52p-14);
    b = __cl_fma(b, w, -0x1.62496ff4297d5p-13);
    b = __cl_fma(b, w, -0x1.cb443d4528774p-12);
    b = __cl_fma(b, w, -0x1.313e8d533116dp-10);
    b = __cl_fma(b, w, -0x1.a50352208eabfp-9);
    b = __cl_fma(b, w, -0x1.34dbda14b44edp-7);
    b = __cl_fma(b, w, -0x1.007aa83cee053p-5);
    b = __cl_fma(b, w, -0x1.2aed059bd608ap-3);
    return __cl_fma(b, u, a);
}

// Returns w such that gamma(a) = *product * gamma(w + 1): for 1 <= a < 11, a = w + 1 + n with 0 <= w < 1; for a < 1,
// w = a.
static double speciald_shift(double a, double *product)
{
    double y = a;
    double p = 1.0;
    for (int i = 0; i < 9; i++) {
        int above = y >= 2.0;
        y = above ? y - 1.0 : y;
        p = above ? p * y : p;
    }
    *product = a < 1.0 ? 1.0 / a : p;
    return a < 1.0 ? a : y - 1.0;
}

// gamma(a) / (sqrt(2 pi) a^(a - 1/2) e^-a) - 1, over r = 1/a, for a >= 10
static double speciald_stirling_factor(double r)
{
    double w = r * r;
    double a = __cl_fma(0x1.09ce118e45427p-10, w, -0x1.359d37b57df8fp-11);
    a = __cl_fma(a, w, 0x1.9b104e89ac43ap-11);
    a = __cl_fma(a, w, -0x1.5f7268ec724f8p-9);
    a = __cl_fma(a, w, 0x1.5555555555556p-4);
    double b = __cl_fma(-0x1.94d8eb3a6f9eap-11, w, -0x1.31b7ee2acab7ep-14);
    b = __cl_fma(b, w, 0x1.241f7d87db14dp-14);
    b = __cl_fma(b, w, -0x1.e13ceb49bcdccp-13);
    b = __cl_fma(b, w, 0x1.c71c71c71ac7bp-9);
    return __cl_fma(b, r, a);
}

FN double tgamma(double x)
{
    double ax = __cl_fabs(x);
    // Beyond 300 the result has long overflowed, or vanished.
    double a = __cl_fmin(ax, 300.0);
    double product;
    double w = speciald_shift(__cl_fmin(a, 10.5), &product);
    double small = speciald_gamma_middle(w - 0.5) * product;
    double b = __cl_fmax(a, 10.0);
    double root = pow(b, 0.5 * b - 0.25);
    double r = 1.0 / b;
    double factor = __cl_fma(speciald_stirling_factor(r), r, 1.0) * 0x1.40d931ff62706p+1;
    // gamma(a) in two factors, as it may overflow where its inverse is still a denormal number.
    double g1 = a < 10.0 ? small : exp(-b) * root * factor;
    double g2 = a < 10.0 ? 1.0 : root;
    // Reflection: gamma(-a) = -pi / (a sin(pi a) gamma(a)).
    double sine = sinpi(ax);
    double y = x < 0.0 ? -0x1.921fb54442d18p+1 / (a * sine) / g1 / g2 : g1 * g2;
    y = x < 0.0 && sine == 0.0 ? NAN : y;
    // 1/x where the product of the tiny and its sine would lose bits.
    y = ax < 0x1p-60 ? 1.0 / x : y;
    return x != x || x == INFINITY ? x : (x == -INFINITY ? NAN : y);
}

// (log(gamma(x)) - ((x - 1/2) log x - x + log(2 pi) / 2)) * x as a polynomial of z = 1/x^2, for x >= 10
static double speciald_stirling(double z)
{
    double p = __cl_fma(-0x1.81070fb3b2a15p-6, z, 0x1.9e08d230c3793p-8);
    p = __cl_fma(p, z, -0x1.f6780f76d3d6p-10);
    p = __cl_fma(p, z, 0x1.b9516a9ce5ec8p-11);
    p = __cl_fma(p, z, -0x1.381380eadeb57p-11);
    p = __cl_fma(p, z, 0x1.a01a01a0018fp-11);
    p = __cl_fma(p, z, -0x1.6c16c16c16c0bp-9);
    return __cl_fma(p, z, 0x1.5555555555555p-4);
}

// log|gamma(x)| and the sign of gamma(x).
static double2 speciald_lgamma(double x)
{
    double a = __cl_fabs(x);
    double product;
    double w = speciald_shift(__cl_fmin(a, 10.5), &product);
    // Near 1 and 2, where the logarithm of gamma vanishes, both factors are exact.
    double middle = w * (w - 1.0) * speciald_lgamma_middle(w - 0.5);
    double b = __cl_fmax(a, 10.0);
    // One logarithm for all ranges.
    double l = log(a < 1.0 ? a : (a < 10.0 ? product : b));
    double small = middle + (a < 1.0 ? -l : l);
    double r = 1.0 / b;
    double big = __cl_fma(b - 0.5, l - 1.0, __cl_fma(speciald_stirling(r * r), r, 0x1.acfe390c97d69p-2));
    double s = a < 10.0 ? small : big;
    double sine = sinpi(a);
    int negative = x < 0.0;
    // log gamma(-a) = log(pi / (a |sin(pi a)|)) - log gamma(a); for tiny a it is -log(a), whose product would vanish.
    double reflected = log(0x1.921fb54442d18p+1 / (a * __cl_fabs(sine))) - s;
    double y = negative && a > 0x1p-60 ? reflected : s;
    int pole = x == 0.0 || (negative && sine == 0.0) || a == INFINITY;
    int sign = negative ? (sine > 0.0 ? -1 : 1) : 1;
    // Zero and the negative integers have none, the infinity below counts among them.
    sign = pole && x <= 0.0 ? 0 : sign;
    y = pole ? INFINITY : y;
    return (double2)(x != x ? x : y, (double)sign);
}

FN double lgamma(double x)
{
    return speciald_lgamma(x).x;
}

#define LGAMMAD_R(space)                           \
    FN double lgamma_r(double x, space int *sign)  \
    {                                              \
        double2 y = speciald_lgamma(x);            \
        *sign = (int)y.y;                          \
        return y.x;                                \
    }

LGAMMAD_R(__private)
LGAMMAD_R(__global)
LGAMMAD_R(__local)
