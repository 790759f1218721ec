// Error and gamma functions of float: erf erfc tgamma lgamma lgamma_r.
//
// In: a float; out: the result within a few ULP. erfc(x) = e^(-x^2) * g(t) / (1 + 2x) with t = (x - 2) / (x + 2), which
// maps the half-line onto an interval where g is smooth (Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x)
// exp(x^2) erfc x in 0 <= x < inf", 1981; the polynomial is from tools/minimax.py). The gamma function is Stirling's
// series after a shift to at least 8, in double, which leaves 20 bits to spare; its logarithm is that of double.

#define FN __attribute__((overloadable))

// (erf(x) - x) / x as a polynomial of z = x^2 <= 1
static float specialf_erf_tail(float z)
{
    float p = __cl_fma(-0x1.9f22d4p-20f, z, 0x1.616edep-14f);
    p = __cl_fma(p, z, -0x1.a85dd8p-11f);
    p = __cl_fma(p, z, 0x1.546d18p-8f);
    p = __cl_fma(p, z, -0x1.b802eap-6f);
    p = __cl_fma(p, z, 0x1.ce2d6cp-4f);
    p = __cl_fma(p, z, -0x1.81274p-2f);
    return __cl_fma(p, z, 0x1.06eba8p-3f);
}

// erfc(a) for a >= 1/2
static float specialf_erfc(float a)
{
    a = __cl_fmin(a, 11.0f);
    float t = (a - 2.0f) / (a + 2.0f);
    float p = __cl_fma(-0x1.a990d4p-12f, t, -0x1.450b7ep-10f);
    p = __cl_fma(p, t, 0x1.589bacp-10f);
    p = __cl_fma(p, t, 0x1.1b2dd2p-7f);
    p = __cl_fma(p, t, -0x1.080a84p-7f);
    p = __cl_fma(p, t, -0x1.bc125ap-5f);
    p = __cl_fma(p, t, 0x1.4ffbd8p-3f);
    p = __cl_fma(p, t, -0x1.540804p-3f);
    p = __cl_fma(p, t, -0x1.7bf604p-4f);
    p = __cl_fma(p, t, 0x1.46e80ep+0f);
    // e^(-a^2) corrected for the rounding error of the square.
    float z = a * a;
    float l = __cl_fma(a, a, -z);
    float g = p / (a + a + 1.0f);
    g = __cl_fma(-l, g, g);
    // For large a in two factors: the exponential alone would lose bits as a denormal number. 32 - z is exact there.
    int far = z > 64.0f;
    return exp(far ? 32.0f - z : -z) * g * (far ? 0x1.c8465p-47f : 1.0f);
}

FN float erf(float x)
{
    float a = __cl_fabs(x);
    float small = __cl_fma(a, specialf_erf_tail(a * a), a);
    float y = a < 1.0f ? small : 1.0f - specialf_erfc(a);
    return x != x ? x : __cl_copysign(y, x);
}

FN float erfc(float x)
{
    float a = __cl_fabs(x);
    float small = 1.0f - __cl_fma(x, specialf_erf_tail(a * a), x);
    float far = specialf_erfc(a);
    far = x < 0.0f ? 2.0f - far : far;
    return x != x ? x : (a < 0.5f ? small : far);
}

// Stirling's correction: log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 8; the Bernoulli numbers.
static double specialf_stirling(double x)
{
    double r = 1.0 / x;
    double z = r * r;
    double p = __cl_fma(-1.0 / 1680.0, z, 1.0 / 1260.0);
    p = __cl_fma(p, z, -1.0 / 360.0);
    return r * __cl_fma(p, z, 1.0 / 12.0);
}

// log(gamma(x)) = result - log(*product), for 0 < x.
static double specialf_lgamma(double x, double *product)
{
    double p = 1.0;
    for (int i = 0; i < 8; i++) {
        int below = x < 8.0;
        p = below ? p * x : p;
        x = below ? x + 1.0 : x;
    }
    *product = p;
    return __cl_fma(x - 0.5, log(x), specialf_stirling(x) - x + 0.91893853320467274178);
}

FN float tgamma(float x)
{
    double a = __cl_fmin(__cl_fabs(x), 64.0f);
    double product;
    double s = specialf_lgamma(a, &product);
    double g = exp(s) / product;
    // Reflection: gamma(-a) = -pi / (a sin(pi a) gamma(a)).
    double sine = sinpi((double)__cl_fabs(x));
    double y = x < 0.0f ? -3.14159265358979323846 / (a * sine * g) : g;
    float r = (float)y;
    int pole = x < 0.0f && sine == 0.0;
    r = pole ? NAN : r;
    // Below the smallest poles only the sign of the result is left.
    r = x < -64.0f && !pole ? __cl_copysign(0.0f, (float)-sine) : r;
    r = x == 0.0f ? __cl_copysign(INFINITY, x) : r;
    return x != x || x == INFINITY ? x : (x == -INFINITY ? NAN : r);
}

// In double all the way: near its zeros the logarithm of gamma cancels.
FN float lgamma(float x)
{
    return (float)lgamma((double)x);
}

#define LGAMMAF_R(space)                          \
    FN float lgamma_r(float x, space int *sign)   \
    {                                             \
        int s;                                    \
        float y = (float)lgamma_r((double)x, &s); \
        *sign = s;                                \
        return y;                                 \
    }

LGAMMAF_R(__private)
LGAMMAF_R(__global)
LGAMMAF_R(__local)
