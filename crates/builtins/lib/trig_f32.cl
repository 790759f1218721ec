// Trigonometric functions of float: sin cos tan sincos sinpi cospi tanpi.
//
// In: a float, for sin, cos and tan of radians; out: the result within 1 to 2 ULP over the whole range.
// |x| = n * pi/2 + r with |r| <= pi/4. Up to 2^17 by Cody and Waite's subtraction of n times pi/2 in three parts, where
// fused operations make the first step exact; beyond by Payne and Hanek's ("Radian reduction for trigonometric
// functions", 1983) product with the bits of 2/pi that matter. That one is the only branch, and a call: a vector
// none of whose lanes is large skips it.

#define FN __attribute__((overloadable))
#define TRIGF_MAGIC 0x1.8p+23f

// 2/pi, 32 bits a word, after one word of zeros.
__constant uint trigf_two_over_pi[8] = {
    0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
};

// The rest in radians and, as bits, the quadrant of a > 2^17, NaN for the infinity. This is the slow path, which stays a call. It
// runs for all lanes of a vector if one takes it: any other a must be as harmless.
static __attribute__((noinline)) float2 trigf_reduce_large(float a)
{
    int infinite = a == INFINITY;
    a = a > 0x1p+17f && a < INFINITY ? a : 0x1p+17f;
    uint bits = as_uint(a);
    ulong m = (bits & 0x7fffffu) | 0x800000u;
    // a = m * 2^e. The bits of 2/pi above 2^(2-e) give whole turns; a window of 96 bits starts there.
    int e = (int)(bits >> 23) - 150;
    int start = e + 30;
    int word = start >> 5;
    int shift = start & 31;
    ulong w0 = trigf_two_over_pi[word];
    ulong w1 = trigf_two_over_pi[word + 1];
    ulong w2 = trigf_two_over_pi[word + 2];
    ulong w3 = trigf_two_over_pi[word + 3];
    ulong hi = (w0 << 32 | w1) << shift | (w2 << shift) >> 32;
    ulong lo = ((w2 << 32 | w3) << shift) >> 32;
    // The product modulo 4, as a fixed-point number with two bits before the point.
    ulong p = m * hi + ((m * lo) >> 32);
    // Round to the nearest quadrant; what is left is signed.
    ulong n = (p + (1ul << 61)) >> 62;
    float r = (float)(long)(p - (n << 62)) * 0x1.921fb6p-62f;
    return (float2)(infinite ? NAN : r, as_float((uint)n & 3));
}

// The same for any a >= 0; NaN for the infinity.
static float trigf_reduce(float a, int *q)
{
    float t = __cl_fma(a, 0x1.45f306p-1f, TRIGF_MAGIC);
    float n = t - TRIGF_MAGIC;
    float r = __cl_fma(n, -0x1.921fb6p+0f, a);
    r = __cl_fma(n, 0x1.777a5cp-25f, r);
    r = __cl_fma(n, 0x1.ee59dap-50f, r);
    int k = as_int(t);
    if (a > 0x1p+17f) {
        float2 large = trigf_reduce_large(a);
        r = large.x;
        k = as_int(large.y);
    }
    *q = k;
    return r;
}

// sin(r) and cos(r) for |r| <= pi/4 and a bit.
static float trigf_sin(float r)
{
    float z = r * r;
    float p = __cl_fma(-0x1.994f14p-13f, z, 0x1.11077p-7f);
    p = __cl_fma(p, z, -0x1.555546p-3f);
    return __cl_fma(z * p, r, r);
}

static float trigf_cos(float r)
{
    float z = r * r;
    float p = __cl_fma(0x1.99e57p-16f, z, -0x1.6c0c22p-10f);
    p = __cl_fma(p, z, 0x1.55554ap-5f);
    p = __cl_fma(p, z, -0.5f);
    return __cl_fma(p, z, 1.0f);
}

static float trigf_tan(float r)
{
    float z = r * r;
    float p = __cl_fma(0x1.397efp-7f, z, 0x1.6f6acap-9f);
    p = __cl_fma(p, z, 0x1.939d2ep-6f);
    p = __cl_fma(p, z, 0x1.b50e5p-5f);
    p = __cl_fma(p, z, 0x1.1131b4p-3f);
    p = __cl_fma(p, z, 0x1.5554cap-2f);
    return __cl_fma(z * p, r, r);
}

static float trigf_negate_if(int c, float x)
{
    return as_float(as_uint(x) ^ (c ? 0x80000000u : 0u));
}

// sin(x) from the quadrant and the rest of |x|: sin(-0) = -0 needs the sign of x itself.
static float trigf_sin_of(float x, float r, int q)
{
    float y = q & 1 ? trigf_cos(r) : trigf_sin(r);
    return as_float(as_uint(trigf_negate_if(q & 2, y)) ^ (as_uint(x) & 0x80000000u));
}

static float trigf_cos_of(float r, int q)
{
    float y = q & 1 ? trigf_sin(r) : trigf_cos(r);
    return trigf_negate_if((q + 1) & 2, y);
}

FN float sin(float x)
{
    int q;
    float r = trigf_reduce(__cl_fabs(x), &q);
    return trigf_sin_of(x, r, q);
}

FN float cos(float x)
{
    int q;
    float r = trigf_reduce(__cl_fabs(x), &q);
    return trigf_cos_of(r, q);
}

#define SINCOSF(space)                                  \
    FN float sincos(float x, space float *cosine)       \
    {                                                   \
        int q;                                          \
        float r = trigf_reduce(__cl_fabs(x), &q);       \
        *cosine = trigf_cos_of(r, q);                   \
        return trigf_sin_of(x, r, q);                   \
    }

SINCOSF(__private)
SINCOSF(__global)
SINCOSF(__local)

FN float tan(float x)
{
    int q;
    float r = trigf_reduce(__cl_fabs(x), &q);
    float t = trigf_tan(r);
    t = q & 1 ? -1.0f / t : t;
    return as_float(as_uint(t) ^ (as_uint(x) & 0x80000000u));
}

// |x| = q / 2 + r with |r| <= 1/4; r * pi as result. Even integers from 2^24 on count as 0.
static float trigf_reduce_pi(float a, int *q)
{
    float b = a < 0x1p+24f ? a : (a < INFINITY ? 0.0f : NAN);
    float n = __cl_rint(b + b);
    float r = __cl_fma(n, -0.5f, b);
    *q = (int)n;
    return __cl_fma(r, 0x1.921fb6p+1f, r * -0x1.777a5cp-24f);
}

FN float sinpi(float x)
{
    int q;
    float r = trigf_reduce_pi(__cl_fabs(x), &q);
    float y = q & 1 ? trigf_cos(r) : trigf_sin(r);
    // The zeros have the sign of x.
    y = trigf_negate_if((q & 2) && y != 0.0f, y);
    y = y == 0.0f ? 0.0f : y;
    return as_float(as_uint(y) ^ (as_uint(x) & 0x80000000u));
}

FN float cospi(float x)
{
    int q;
    float r = trigf_reduce_pi(__cl_fabs(x), &q);
    float y = trigf_cos_of(r, q);
    return y == 0.0f ? 0.0f : y;
}

FN float tanpi(float x)
{
    int q;
    float r = trigf_reduce_pi(__cl_fabs(x), &q);
    float t = trigf_tan(r);
    // At a multiple of 1/2 the sign follows the half turn: tanpi(n) = copysign(0, -n) for odd n > 0.
    float exact = trigf_negate_if(q & 2, q & 1 ? INFINITY : 0.0f);
    t = r == 0.0f ? exact : (q & 1 ? -1.0f / t : t);
    return as_float(as_uint(t) ^ (as_uint(x) & 0x80000000u));
}
