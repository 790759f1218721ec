// Exponentials and hyperbolic functions of float: exp exp2 exp10 expm1 sinh cosh tanh.
//
// In: a float; out: the result within 1 to 2 ULP, no branches, no tables, so that the vectoriser gets straight code.
// e^x = 2^n * e^r with |r| <= ln(2)/2: Cody and Waite's reduction with a two-part ln(2), a minimax polynomial for e^r
// (weighted least squares with Lawson's reweighting, see tools/minimax.py), and a scaling in two steps so that results
// in the denormal range are reached without a detour.

#define FN __attribute__((overloadable))

// x rounded to an integer as a float, for |x| < 2^22: adding 1.5 * 2^23 leaves no bit for the fraction.
#define EXPF_MAGIC 0x1.8p+23f

// 2^n for -126 <= n <= 127.
static float expf_pow2(int n)
{
    return as_float((n + 127) << 23);
}

// y * 2^n for -250 <= n <= 254.
static float expf_scale(float y, int n)
{
    int half_n = n >> 1;
    return y * expf_pow2(half_n) * expf_pow2(n - half_n);
}

// (e^r - 1 - r) / r^2 for |r| <= 0.35; the error of e^r is 2^-26.
static float expf_tail(float r)
{
    float p = __cl_fma(0x1.6d1dcap-10f, r, 0x1.120ae2p-7f);
    p = __cl_fma(p, r, 0x1.555502p-5f);
    p = __cl_fma(p, r, 0x1.5554dep-3f);
    return __cl_fma(p, r, 0.5f);
}

// e^x * 2^k for |k| <= 2; x may be anything, a NaN comes back.
static float expf_scaled(float x, int k)
{
    float c = __cl_fmin(__cl_fmax(x, -106.0f), 91.0f);
    float t = __cl_fma(c, 0x1.715476p+0f, EXPF_MAGIC);
    float n = t - EXPF_MAGIC;
    float r = __cl_fma(n, -0x1.62e43p-1f, c);
    r = __cl_fma(n, 0x1.05c61p-29f, r);
    float e = __cl_fma(r * r, expf_tail(r), r) + 1.0f;
    float y = expf_scale(e, (int)(as_uint(t) - as_uint(EXPF_MAGIC)) + k);
    return x != x ? x : y;
}

FN float exp(float x)
{
    return expf_scaled(x, 0);
}

FN float exp2(float x)
{
    float c = __cl_fmin(__cl_fmax(x, -152.0f), 130.0f);
    float t = c + EXPF_MAGIC;
    float r = c - (t - EXPF_MAGIC);
    // (2^r - 1) / r
    float p = __cl_fma(0x1.440e14p-13f, r, 0x1.5ef4eep-10f);
    p = __cl_fma(p, r, 0x1.3b2a54p-7f);
    p = __cl_fma(p, r, 0x1.c6af9ep-5f);
    p = __cl_fma(p, r, 0x1.ebfbep-3f);
    p = __cl_fma(p, r, 0x1.62e43p-1f);
    float y = expf_scale(__cl_fma(p, r, 1.0f), (int)(as_uint(t) - as_uint(EXPF_MAGIC)));
    return x != x ? x : y;
}

FN float exp10(float x)
{
    float c = __cl_fmin(__cl_fmax(x, -46.0f), 39.0f);
    float t = __cl_fma(c, 0x1.a934fp+1f, EXPF_MAGIC);
    float n = t - EXPF_MAGIC;
    float r = __cl_fma(n, -0x1.344136p-2f, c);
    r = __cl_fma(n, 0x1.ec10cp-27f, r);
    // 10^r = e^(r ln 10), corrected for the rounding error of the product.
    float h = r * 0x1.26bb1cp+1f;
    float l = __cl_fma(r, 0x1.26bb1cp+1f, -h);
    l = __cl_fma(r, -0x1.12aabap-25f, l);
    float e = __cl_fma(h * h, expf_tail(h), l) + h + 1.0f;
    float y = expf_scale(e, (int)(as_uint(t) - as_uint(EXPF_MAGIC)));
    return x != x ? x : y;
}

FN float expm1(float x)
{
    float c = __cl_fmin(__cl_fmax(x, -30.0f), 91.0f);
    float t = __cl_fma(c, 0x1.715476p+0f, EXPF_MAGIC);
    float n = t - EXPF_MAGIC;
    float r = __cl_fma(n, -0x1.62e43p-1f, c);
    r = __cl_fma(n, 0x1.05c61p-29f, r);
    float q = __cl_fma(r * r, expf_tail(r), r);
    // 2^n (q + 1) - 1, halved inside because 2^n itself overflows before the result does.
    int k = (int)(as_uint(t) - as_uint(EXPF_MAGIC)) - 1;
    float s = expf_pow2(__cl_min(k, 127));
    float y = __cl_fma(q, s, s - 0.5f) * 2.0f;
    y = c > 89.0f ? INFINITY : y;
    return __cl_fabs(x) < 0x1p-25f || x != x ? x : y;
}

FN float sinh(float x)
{
    float a = __cl_fabs(x);
    float z = a * a;
    // (sinh a - a) / a^3 for a <= 1
    float p = __cl_fma(0x1.75a458p-19f, z, 0x1.a0215ep-13f);
    p = __cl_fma(p, z, 0x1.1110e2p-7f);
    p = __cl_fma(p, z, 0x1.555556p-3f);
    float small = __cl_fma(z * p, a, a);
    // Half of e^a is finite wherever the result is.
    float h = expf_scaled(a, -1);
    float big = h - 0.25f / h;
    return __cl_copysign(a < 1.0f ? small : big, x);
}

FN float cosh(float x)
{
    float h = expf_scaled(__cl_fabs(x), -1);
    return h + 0.25f / h;
}

FN float tanh(float x)
{
    float a = __cl_fabs(x);
    float z = a * a;
    // (tanh a - a) / a^3 for a <= 0.63
    float p = __cl_fma(-0x1.72cb8ep-8f, z, 0x1.517ee6p-6f);
    p = __cl_fma(p, z, -0x1.b8243ep-5f);
    p = __cl_fma(p, z, 0x1.11067cp-3f);
    p = __cl_fma(p, z, -0x1.55553p-2f);
    float small = __cl_fma(z * p, a, a);
    float big = 1.0f - 2.0f / (expf_scaled(a + a, 0) + 1.0f);
    return __cl_copysign(a < 0.625f ? small : big, x);
}
