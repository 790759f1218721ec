// Trigonometric functions of double: sin cos tan sincos sinpi cospi tanpi.
//
// The same algorithms as in trig_f32.cl, where they are explained: Cody and Waite's reduction up to 2^30, Payne and
// Hanek's beyond.

#define FN __attribute__((overloadable))
#define TRIGD_MAGIC 0x1.8p+52

// 2/pi, 64 bits a word, after one word of zeros.
__constant ulong trigd_two_over_pi[20] = {
    0x0000000000000000ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul,
    0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul,
    0x3991d639835339f4ul, 0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul,
    0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul,
};

// Bits start to start + 63 of a stream of which a and b are neighbouring words; 0 <= shift <= 63.
static ulong trigd_bits(ulong a, ulong b, int shift)
{
    return a << shift | (b >> 1) >> (63 - shift);
}

// The rest in radians and, as bits, the quadrant of a > 2^30, NaN for the infinity; a call, and harmless for any other a.
static __attribute__((noinline)) double2 trigd_reduce_large(double a)
{
    int infinite = a == INFINITY;
    a = a > 0x1p+30 && a < INFINITY ? a : 0x1p+30;
    ulong bits = as_ulong(a);
    ulong m = (bits & 0xffffffffffffful) | 0x10000000000000ul;
    // a = m * 2^e. The bits of 2/pi above 2^(2-e) give whole turns; a window of 192 bits starts there.
    int e = (int)(bits >> 52) - 1075;
    int start = e + 62;
    int word = start >> 6;
    int shift = start & 63;
    ulong t0 = trigd_two_over_pi[word];
    ulong t1 = trigd_two_over_pi[word + 1];
    ulong t2 = trigd_two_over_pi[word + 2];
    ulong t3 = trigd_two_over_pi[word + 3];
    ulong w0 = trigd_bits(t0, t1, shift);
    ulong w1 = trigd_bits(t1, t2, shift);
    ulong w2 = trigd_bits(t2, t3, shift);
    // The product modulo 4, as a fixed-point number of 128 bits, two of them before the point.
    ulong middle = m * w1;
    ulong low = middle + __cl_mul_hi(m, w2);
    ulong high = m * w0 + __cl_mul_hi(m, w1) + (low < middle ? 1 : 0);
    // Round to the nearest quadrant; what is left is signed.
    ulong n = (high + (1ul << 61)) >> 62;
    double r = __cl_fma((double)low, 0x1p-126, (double)(long)(high - (n << 62)) * 0x1p-62);
    r = __cl_fma(r, 0x1.921fb54442d18p+0, r * 0x1.1a62633145c07p-54);
    return (double2)(infinite ? NAN : r, as_double(n & 3));
}

// The same for any a >= 0; NaN for the infinity.
static double trigd_reduce(double a, int *q)
{
    double t = __cl_fma(a, 0x1.45f306dc9c883p-1, TRIGD_MAGIC);
    double n = t - TRIGD_MAGIC;
    double r = __cl_fma(n, -0x1.921fb54442d18p+0, a);
    r = __cl_fma(n, -0x1.1a62633145c07p-54, r);
    r = __cl_fma(n, 0x1.f1976b7ed8fbcp-110, r);
    int k = (int)as_long(t);
    if (a > 0x1p+30) {
        double2 large = trigd_reduce_large(a);
        r = large.x;
        k = (int)as_long(large.y);
    }
    *q = k;
    return r;
}

// sin(r) and cos(r) for |r| <= pi/4 and a bit.
static double trigd_sin(double r)
{
    double z = r * r;
    double p = __cl_fma(0x1.5d8e65f1262eep-33, z, -0x1.ae5e56ae29265p-26);
    p = __cl_fma(p, z, 0x1.71de356446963p-19);
    p = __cl_fma(p, z, -0x1.a01a019bfba04p-13);
    p = __cl_fma(p, z, 0x1.111111110f7cdp-7);
    p = __cl_fma(p, z, -0x1.5555555555548p-3);
    return __cl_fma(z * p, r, r);
}

static double trigd_cos(double r)
{
    double z = r * r;
    double p = __cl_fma(-0x1.8fa9af4327e4bp-37, z, 0x1.1ee9e2ac68a8bp-29);
    p = __cl_fma(p, z, -0x1.27e4f7fcc7463p-22);
    p = __cl_fma(p, z, 0x1.a01a019ca024fp-16);
    p = __cl_fma(p, z, -0x1.6c16c16c150dp-10);
    p = __cl_fma(p, z, 0x1.555555555554bp-5);
    p = __cl_fma(p, z, -0.5);
    return __cl_fma(p, z, 1.0);
}

static double trigd_tan(double r)
{
    double z = r * r;
    double w = z * z;
    // Even and odd coefficients apart, for two chains half as long.
    double a = __cl_fma(-0x1.8720e8c53152ep-15, w, -0x1.f81184cedb9b3p-16);
    double b = __cl_fma(0x1.64f860add14eep-16, w, 0x1.8507102a6ddap-14);
    a = __cl_fma(a, w, 0x1.cf9b293335dc7p-13);
    b = __cl_fma(b, w, 0x1.23df02ff8ce4dp-13);
    a = __cl_fma(a, w, 0x1.7d53aac7badb6p-10);
    b = __cl_fma(b, w, 0x1.383995a1f42a2p-11);
    a = __cl_fma(a, w, 0x1.226e0d946323dp-7);
    b = __cl_fma(b, w, 0x1.d6d9daa0cf3f6p-9);
    a = __cl_fma(a, w, 0x1.ba1ba1b372669p-5);
    b = __cl_fma(b, w, 0x1.664f49d552ae2p-6);
    a = __cl_fma(a, w, 0x1.55555555554ddp-2);
    b = __cl_fma(b, w, 0x1.1111111119896p-3);
    return __cl_fma(z * __cl_fma(b, z, a), r, r);
}

static double trigd_negate_if(int c, double x)
{
    return as_double(as_ulong(x) ^ (c ? 0x8000000000000000ul : 0ul));
}

// The sign of x on y: sin(-0) = -0 needs the sign of x itself.
static double trigd_with_sign(double y, double x)
{
    return as_double(as_ulong(y) ^ (as_ulong(x) & 0x8000000000000000ul));
}

static double trigd_sin_of(double x, double r, int q)
{
    double y = q & 1 ? trigd_cos(r) : trigd_sin(r);
    return trigd_with_sign(trigd_negate_if(q & 2, y), x);
}

static double trigd_cos_of(double r, int q)
{
    double y = q & 1 ? trigd_sin(r) : trigd_cos(r);
    return trigd_negate_if((q + 1) & 2, y);
}

FN double sin(double x)
{
    int q;
    double r = trigd_reduce(__cl_fabs(x), &q);
    return trigd_sin_of(x, r, q);
}

FN double cos(double x)
{
    int q;
    double r = trigd_reduce(__cl_fabs(x), &q);
    return trigd_cos_of(r, q);
}

#define SINCOSD(space)                                  \
    FN double sincos(double x, space double *cosine)    \
    {                                                   \
        int q;                                          \
        double r = trigd_reduce(__cl_fabs(x), &q);      \
        *cosine = trigd_cos_of(r, q);                   \
        return trigd_sin_of(x, r, q);                   \
    }

SINCOSD(__private)
SINCOSD(__global)
SINCOSD(__local)

FN double tan(double x)
{
    int q;
    double r = trigd_reduce(__cl_fabs(x), &q);
    double t = trigd_tan(r);
    t = q & 1 ? -1.0 / t : t;
    return trigd_with_sign(t, x);
}

// |x| = q / 2 + r with |r| <= 1/4; r * pi as result. Even integers from 2^53 on count as 0; below, q keeps two bits.
static double trigd_reduce_pi(double a, int *q)
{
    double b = a < 0x1p+53 ? a : (a < INFINITY ? 0.0 : NAN);
    double n = __cl_rint(b + b);
    double r = __cl_fma(n, -0.5, b);
    *q = (int)(long)n;
    return __cl_fma(r, 0x1.921fb54442d18p+1, r * 0x1.1a62633145c07p-53);
}

FN double sinpi(double x)
{
    int q;
    double r = trigd_reduce_pi(__cl_fabs(x), &q);
    double y = q & 1 ? trigd_cos(r) : trigd_sin(r);
    // The zeros have the sign of x.
    y = trigd_negate_if((q & 2) && y != 0.0, y);
    y = y == 0.0 ? 0.0 : y;
    return trigd_with_sign(y, x);
}

FN double cospi(double x)
{
    int q;
    double r = trigd_reduce_pi(__cl_fabs(x), &q);
    double y = trigd_cos_of(r, q);
    return y == 0.0 ? 0.0 : y;
}

FN double tanpi(double x)
{
    int q;
    double r = trigd_reduce_pi(__cl_fabs(x), &q);
    double t = trigd_tan(r);
    // At a multiple of 1/2 the sign follows the half turn: tanpi(n) = copysign(0, -n) for odd n > 0.
    double exact = trigd_negate_if(q & 2, q & 1 ? INFINITY : 0.0);
    t = r == 0.0 ? exact : (q & 1 ? -1.0 / t : t);
    return trigd_with_sign(t, x);
}
