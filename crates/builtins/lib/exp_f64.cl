// Exponentials and hyperbolic functions of double: exp exp2 exp10 expm1 sinh cosh tanh.
//
// The same algorithms as in exp_f32.cl, where they are explained, with longer polynomials.

#define FN __attribute__((overloadable))

// Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits.
#define EXPD_MAGIC 0x1.8p+52

// 2^n for -1022 <= n <= 1023.
static double expd_pow2(int n)
{
    return as_double((long)(n + 1023) << 52);
}

// y * 2^n for -2044 <= n <= 2046.
static double expd_scale(double y, int n)
{
    int half_n = n >> 1;
    return y * expd_pow2(half_n) * expd_pow2(n - half_n);
}

// (e^r - 1 - r) / r^2 for |r| <= 0.35; the error of e^r is 2^-61.
static double expd_tail(double r)
{
    double z = r * r;
    double a = __cl_fma(0x1.5555555555557p-3, r, 0x1p-1);
    double b = __cl_fma(0x1.11111111100dfp-7, r, 0x1.5555555555557p-5);
    double c = __cl_fma(0x1.a01a01abe6491p-13, r, 0x1.6c16c16c158b5p-10);
    double d = __cl_fma(0x1.71de0236ebc94p-19, r, 0x1.a01a01aacbb42p-16);
    double e = __cl_fma(0x1.af4dde45be742p-26, r, 0x1.27e4d1a72a187p-22);
    double w = z * z;
    e = __cl_fma(0x1.1f8396d1aee72p-29, z, e);
    d = __cl_fma(e, z, d);
    c = __cl_fma(d, z, c);
    return __cl_fma(c, w, __cl_fma(b, z, a));
}

// e^x * 2^k for |k| <= 2; x may be anything, a NaN comes back.
static double expd_scaled(double x, int k)
{
    double c = __cl_fmin(__cl_fmax(x, -748.0), 713.0);
    double t = __cl_fma(c, 0x1.71547652b82fep+0, EXPD_MAGIC);
    double n = t - EXPD_MAGIC;
    double r = __cl_fma(n, -0x1.62e42fefa39efp-1, c);
    r = __cl_fma(n, -0x1.abc9e3b39803fp-56, r);
    double e = __cl_fma(r * r, expd_tail(r), r) + 1.0;
    double y = expd_scale(e, (int)as_long(t) + k);
    return x != x ? x : y;
}

FN double exp(double x)
{
    return expd_scaled(x, 0);
}

FN double exp2(double x)
{
    double c = __cl_fmin(__cl_fmax(x, -1080.0), 1030.0);
    double t = c + EXPD_MAGIC;
    double r = c - (t - EXPD_MAGIC);
    // 2^r = e^(r ln 2), corrected for the rounding error of the product.
    double h = r * 0x1.62e42fefa39efp-1;
    double l = __cl_fma(r, 0x1.62e42fefa39efp-1, -h);
    l = __cl_fma(r, 0x1.abc9e3b39803fp-56, l);
    double e = __cl_fma(h * h, expd_tail(h), l) + h + 1.0;
    double y = expd_scale(e, (int)as_long(t));
    return x != x ? x : y;
}

FN double exp10(double x)
{
    double c = __cl_fmin(__cl_fmax(x, -326.0), 310.0);
    double t = __cl_fma(c, 0x1.a934f0979a371p+1, EXPD_MAGIC);
    double n = t - EXPD_MAGIC;
    double r = __cl_fma(n, -0x1.34413509f79ffp-2, c);
    r = __cl_fma(n, 0x1.9dc1da994fd21p-59, r);
    double h = r * 0x1.26bb1bbb55516p+1;
    double l = __cl_fma(r, 0x1.26bb1bbb55516p+1, -h);
    l = __cl_fma(r, -0x1.f48ad494ea3e9p-53, l);
    double e = __cl_fma(h * h, expd_tail(h), l) + h + 1.0;
    double y = expd_scale(e, (int)as_long(t));
    return x != x ? x : y;
}

FN double expm1(double x)
{
    double c = __cl_fmin(__cl_fmax(x, -60.0), 713.0);
    double t = __cl_fma(c, 0x1.71547652b82fep+0, EXPD_MAGIC);
    double n = t - EXPD_MAGIC;
    double r = __cl_fma(n, -0x1.62e42fefa39efp-1, c);
    r = __cl_fma(n, -0x1.abc9e3b39803fp-56, r);
    double q = __cl_fma(r * r, expd_tail(r), r);
    // 2^n (q + 1) - 1, halved inside because 2^n itself overflows before the result does.
    int k = (int)as_long(t) - 1;
    double s = expd_pow2(__cl_min(k, 1023));
    double y = __cl_fma(q, s, s - 0.5) * 2.0;
    y = c > 710.0 ? INFINITY : y;
    return __cl_fabs(x) < 0x1p-54 || x != x ? x : y;
}

FN double sinh(double x)
{
    double a = __cl_fabs(x);
    double z = a * a;
    // (sinh a - a) / a^3 for a <= 1
    double p = __cl_fma(0x1.9a7f7e190829ep-49, z, 0x1.ae7555e71d8a9p-41);
    p = __cl_fma(p, z, 0x1.61246b21c5067p-33);
    p = __cl_fma(p, z, 0x1.ae645673d9c45p-26);
    p = __cl_fma(p, z, 0x1.71de3a557433bp-19);
    p = __cl_fma(p, z, 0x1.a01a01a019fbdp-13);
    p = __cl_fma(p, z, 0x1.1111111111111p-7);
    p = __cl_fma(p, z, 0x1.5555555555555p-3);
    double small = __cl_fma(z * p, a, a);
    // Half of e^a is finite wherever the result is.
    double h = expd_scaled(a, -1);
    double big = h - 0.25 / h;
    return __cl_copysign(a < 1.0 ? small : big, x);
}

FN double cosh(double x)
{
    double h = expd_scaled(__cl_fabs(x), -1);
    return h + 0.25 / h;
}

FN double tanh(double x)
{
    double a = __cl_fabs(x);
    double z = a * a;
    // (tanh a - a) / a^3 for a <= 0.35
    double p = __cl_fma(-0x1.89b772f69f2b3p-13, z, 0x1.2eb64cee9a033p-11);
    p = __cl_fma(p, z, -0x1.7d2d2c9da50bap-10);
    p = __cl_fma(p, z, 0x1.d6cecf396ec3fp-9);
    p = __cl_fma(p, z, -0x1.226e2492bc502p-7);
    p = __cl_fma(p, z, 0x1.664f483e851f7p-6);
    p = __cl_fma(p, z, -0x1.ba1ba1b97e938p-5);
    p = __cl_fma(p, z, 0x1.1111111110b86p-3);
    p = __cl_fma(p, z, -0x1.5555555555553p-2);
    double small = __cl_fma(z * p, a, a);
    double big = 1.0 - 2.0 / (expd_scaled(a + a, 0) + 1.0);
    return __cl_copysign(a < 0.35 ? small : big, x);
}
