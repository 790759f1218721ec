// Logarithms and inverse hyperbolic functions of float: log log2 log10 log1p asinh acosh atanh.
//
// In: a float; out: the result within 1 to 3 ULP. x = 2^e * m with m in [sqrt(1/2), sqrt(2)), so that log(m) never
// cancels against e * log(2); f = m - 1 is exact, and log(1 + f) is a minimax polynomial (tools/minimax.py).

#define FN __attribute__((overloadable))

// The bits of sqrt(1/2): subtracting them moves the border between exponents to where m is split.
#define LOGF_SPLIT 0x3f3504f3u

static int logf_exponent(float x)
{
    return (int)(as_uint(x) - LOGF_SPLIT) >> 23;
}

static float logf_mantissa(float x)
{
    return as_float(((as_uint(x) - LOGF_SPLIT) & 0x7fffffu) + LOGF_SPLIT);
}

// The result of every logarithm outside of the positive finite numbers.
static float logf_special(float x, float y)
{
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return x == INFINITY || x != x ? x : y;
}

// log(1 + f) + c + n * log(2) for f in [-0.293, 0.4143], where c is tiny.
static float logf_core(float f, float c, float n)
{
    float p = __cl_fma(-0x1.4128cap-4f, f, 0x1.07a43ap-3f);
    p = __cl_fma(p, f, -0x1.0ceacap-3f);
    p = __cl_fma(p, f, 0x1.2273a6p-3f);
    p = __cl_fma(p, f, -0x1.547842p-3f);
    p = __cl_fma(p, f, 0x1.99a574p-3f);
    p = __cl_fma(p, f, -0x1.00022p-2f);
    p = __cl_fma(p, f, 0x1.55554ap-2f);
    float z = f * f;
    float s = __cl_fma(z * f, p, __cl_fma(n, 0x1.7f7d1cp-20f, c));
    s = __cl_fma(-0.5f, z, s) + f;
    // The upper part of log(2) has 16 bits: its product with n is exact.
    return __cl_fma(n, 0x1.62e4p-1f, s);
}

FN float log(float x)
{
    int denormal = x < 0x1p-126f;
    float y = denormal ? x * 0x1p+23f : x;
    float n = (float)(logf_exponent(y) - (denormal ? 23 : 0));
    return logf_special(x, logf_core(logf_mantissa(y) - 1.0f, 0.0f, n));
}

FN float log2(float x)
{
    int denormal = x < 0x1p-126f;
    float y = denormal ? x * 0x1p+23f : x;
    float n = (float)(logf_exponent(y) - (denormal ? 23 : 0));
    float f = logf_mantissa(y) - 1.0f;
    // (log2(1 + f) / f - log2(e)) / f
    float p = __cl_fma(-0x1.c5651cp-4f, f, 0x1.7e8c48p-3f);
    p = __cl_fma(p, f, -0x1.87581ap-3f);
    p = __cl_fma(p, f, 0x1.a2d356p-3f);
    p = __cl_fma(p, f, -0x1.eab2dap-3f);
    p = __cl_fma(p, f, 0x1.277f5p-2f);
    p = __cl_fma(p, f, -0x1.715ac6p-2f);
    p = __cl_fma(p, f, 0x1.ec7094p-2f);
    p = __cl_fma(p, f, -0x1.71547p-1f);
    float h = __cl_fma(f, 0x1.715476p+0f, f * __cl_fma(p, f, 0x1.4ae0cp-26f));
    return logf_special(x, n + h);
}

FN float log10(float x)
{
    int denormal = x < 0x1p-126f;
    float y = denormal ? x * 0x1p+23f : x;
    float n = (float)(logf_exponent(y) - (denormal ? 23 : 0));
    float f = logf_mantissa(y) - 1.0f;
    // (log10(1 + f) / f - log10(e)) / f
    float p = __cl_fma(-0x1.11debep-5f, f, 0x1.cccc4p-5f);
    p = __cl_fma(p, f, -0x1.d6ea72p-5f);
    p = __cl_fma(p, f, 0x1.f8462ep-5f);
    p = __cl_fma(p, f, -0x1.277276p-4f);
    p = __cl_fma(p, f, 0x1.63d0bcp-4f);
    p = __cl_fma(p, f, -0x1.bcbf1ap-4f);
    p = __cl_fma(p, f, 0x1.287a7p-3f);
    p = __cl_fma(p, f, -0x1.bcb7aap-3f);
    float l = __cl_fma(n, 0x1.3509f8p-18f, f * __cl_fma(p, f, -0x1.5b235ep-27f));
    float h = __cl_fma(f, 0x1.bcb7b2p-2f, l);
    return logf_special(x, __cl_fma(n, 0x1.344p-2f, h));
}

FN float log1p(float x)
{
    float u = 1.0f + x;
    // The rounding error of the sum, so that log(1 + x) = log(u + c) = log(u) + c / u.
    float c = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    int e = logf_exponent(u);
    int near = e == 0;
    float f = near ? x : logf_mantissa(u) - 1.0f;
    float y = logf_core(f, near ? 0.0f : c / u, (float)e);
    y = x == -1.0f ? -INFINITY : y;
    y = x < -1.0f ? NAN : y;
    return __cl_fabs(x) < 0x1p-25f || x == INFINITY || x != x ? x : y;
}

FN float asinh(float x)
{
    float a = __cl_fabs(x);
    // asinh a = log1p(a + a^2 / (1 + sqrt(1 + a^2))); from 2^24 on it is log(2a), and squares would overflow later.
    int big = a >= 0x1p+24f;
    float z = a * a;
    float t = big ? a : a + z / (1.0f + __cl_sqrt(1.0f + z));
    return __cl_copysign(log1p(t) + (big ? 0x1.62e43p-1f : 0.0f), x);
}

FN float acosh(float x)
{
    int big = x >= 0x1p+24f;
    float d = x - 1.0f;
    float t = big ? x : d + __cl_sqrt(__cl_fma(d, d, d + d));
    float y = log1p(t) + (big ? 0x1.62e43p-1f : 0.0f);
    return x < 1.0f ? NAN : y;
}

FN float atanh(float x)
{
    float a = __cl_fabs(x);
    return __cl_copysign(0.5f * log1p((a + a) / (1.0f - a)), x);
}
