// Functions of float that are exact or need no more than one rounding: fdim fract frexp ilogb ldexp logb maxmag minmag
// modf nan nextafter round rsqrt hypot fmod remainder remquo.
//
// In: floats; out: the exact result, correctly rounded, but for hypot (1 ULP) and rsqrt (1 ULP). Everything but the
// division with remainder, if the quotient is large, is free of branches.

#define FN __attribute__((overloadable))
#define ARITHF_SIGN 0x80000000
#define ARITHF_NORMAL 0x1p-126f

FN float fdim(float x, float y)
{
    float d = x > y ? x - y : 0.0f;
    return x != x ? x : (y != y ? y : d);
}

FN float maxmag(float x, float y)
{
    float ax = __cl_fabs(x);
    float ay = __cl_fabs(y);
    return ax > ay ? x : (ay > ax ? y : __cl_fmax(x, y));
}

FN float minmag(float x, float y)
{
    float ax = __cl_fabs(x);
    float ay = __cl_fabs(y);
    return ax < ay ? x : (ay < ax ? y : __cl_fmin(x, y));
}

FN float nan(uint code)
{
    return as_float(0x7fc00000u | (code & 0x3fffffu));
}

FN float round(float x)
{
    float a = __cl_fabs(x);
    float t = __cl_trunc(a);
    t = a - t >= 0.5f ? t + 1.0f : t;
    return __cl_copysign(t, x);
}

FN float rsqrt(float x)
{
    return 1.0f / __cl_sqrt(x);
}

FN float nextafter(float x, float y)
{
    int i = as_int(x);
    // Away from zero is one up in the bits, towards it one down; from zero, to the smallest of the sign of y.
    int away = (x < y) == (i >= 0);
    int step = i + (away ? 1 : -1);
    step = x == 0.0f ? ((as_int(y) & ARITHF_SIGN) | 1) : step;
    float r = x == y ? y : as_float(step);
    return x != x ? x : (y != y ? y : r);
}

// The exponent of a finite a > 0, denormal or not: a = m * 2^result with 1 <= m < 2.
static int arithf_exponent(float a)
{
    int denormal = a < ARITHF_NORMAL;
    float b = denormal ? a * 0x1p+24f : a;
    return (int)(as_uint(b) >> 23) - (denormal ? 127 + 24 : 127);
}

// 2^n of a normal result.
static float arithf_pow2(int n)
{
    return as_float((uint)(n + 127) << 23);
}

FN int ilogb(float x)
{
    float a = __cl_fabs(x);
    int e = arithf_exponent(a);
    e = a == 0.0f ? FP_ILOGB0 : e;
    e = a == INFINITY ? INT_MAX : e;
    return x != x ? FP_ILOGBNAN : e;
}

FN float logb(float x)
{
    float a = __cl_fabs(x);
    float e = (float)arithf_exponent(a);
    e = a == 0.0f ? -INFINITY : e;
    return a == INFINITY || x != x ? a : e;
}

FN float ldexp(float x, int n)
{
    float a = __cl_fabs(x);
    int still = a == 0.0f || a == INFINITY || x != x;
    int e = arithf_exponent(a);
    // The mantissa in [1, 2), then one multiplication that rounds: denormal results are computed 64 powers too large,
    // and scaled down.
    float m = a < ARITHF_NORMAL ? a * 0x1p+24f : a;
    m = as_float((as_uint(m) & 0x7fffffu) | 0x3f800000u);
    int to = e + __cl_max(__cl_min(n, 400), -400);
    int low = to < -126;
    int raised = low ? __cl_max(to + 64, -126) : to;
    float r = m * arithf_pow2(__cl_min(raised, 127)) * (low ? 0x1p-64f : 1.0f);
    r = to > 127 ? INFINITY : r;
    return still ? x : __cl_copysign(r, x);
}

// Scaled by a power of two where a square would overflow or vanish.
FN float hypot(float x, float y)
{
    float a = __cl_fabs(x);
    float b = __cl_fabs(y);
    float big = a > b ? a : b;
    float up = big > 0x1p+62f ? 0x1p-90f : (big < 0x1p-50f ? 0x1p+90f : 1.0f);
    float down = big > 0x1p+62f ? 0x1p+90f : (big < 0x1p-50f ? 0x1p-90f : 1.0f);
    float u = a * up;
    float v = b * up;
    float r = __cl_sqrt(__cl_fma(u, u, v * v)) * down;
    return a == INFINITY || b == INFINITY ? INFINITY : r;
}

static float arithf_fract(float x, float *whole)
{
    float w = __cl_floor(x);
    *whole = w;
    float f = __cl_fmin(x - w, 0x1.fffffep-1f);
    f = __cl_fabs(x) == INFINITY ? 0.0f : f;
    return x != x ? x : (f == 0.0f ? __cl_copysign(f, x) : f);
}

static float arithf_modf(float x, float *whole)
{
    float w = __cl_trunc(x);
    *whole = w;
    float f = __cl_fabs(x) == INFINITY ? 0.0f : x - w;
    return x != x ? x : __cl_copysign(f, x);
}

static float arithf_frexp(float x, int *exponent)
{
    float a = __cl_fabs(x);
    int still = a == 0.0f || a == INFINITY || x != x;
    *exponent = still ? 0 : arithf_exponent(a) + 1;
    float b = a < ARITHF_NORMAL ? a * 0x1p+24f : a;
    float m = as_float((as_uint(b) & 0x7fffffu) | 0x3f000000u);
    return still ? x : __cl_copysign(m, x);
}

// a - b * trunc(a / b) for finite a >= 0, b > 0, and the low bits of the quotient, as bits. Long division: each step
// takes 22 bits of the quotient, whose product is exact within a fused operation. This is the slow path, which stays a
// call; it must end for any a and b.
static __attribute__((noinline)) float2 arithf_divide_long(float a, float b)
{
    int good = a < INFINITY && b > 0.0f;
    a = good ? a : 0.0f;
    b = good ? b : 1.0f;
    int bits = 0;
    int eb = arithf_exponent(b);
    while (a >= b) {
        int k = __cl_max(arithf_exponent(a) - eb - 22, 0);
        // b * 2^k in two steps, as k may exceed the range of exponents.
        float c = b * arithf_pow2(k >> 1) * arithf_pow2(k - (k >> 1));
        float q = __cl_trunc(a / c);
        float r = __cl_fma(-q, c, a);
        // The division may have rounded up to the next integer.
        int over = r < 0.0f;
        a = over ? r + c : r;
        int n = (int)q - (over ? 1 : 0);
        bits += k < 8 ? (int)(n & 0xff) << k : 0;
    }
    return (float2)(a, as_float((int)bits));
}

// The same; a quotient below 2^22 takes one step.
static float arithf_divide(float a, float b, int *quotient)
{
    float q = __cl_trunc(a / b);
    float r = __cl_fma(-q, b, a);
    int over = r < 0.0f;
    r = over ? r + b : r;
    r = a < b ? a : r;
    int bits = (int)q - (over ? 1 : 0);
    if (a >= b * 0x1p+22f) {
        float2 all = arithf_divide_long(a, b);
        r = all.x;
        bits = as_int(all.y);
    }
    *quotient = bits & 0xff;
    return r;
}

FN float fmod(float x, float y)
{
    float a = __cl_fabs(x);
    float b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > 0.0f);
    int q;
    float r = arithf_divide(bad ? 0.0f : a, bad ? 1.0f : b, &q);
    return bad ? NAN : __cl_copysign(r, x);
}

// The remainder of the nearest quotient, and seven bits of the quotient with its sign.
static float2 arithf_remquo(float x, float y)
{
    float a = __cl_fabs(x);
    float b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > 0.0f);
    int q;
    float r = arithf_divide(bad ? 0.0f : a, bad ? 1.0f : b, &q);
    // Compared without doubling, which could overflow; a tie goes to the even quotient.
    float rest = b - r;
    int up = !bad && (r > rest || (r == rest && (q & 1)));
    r = up ? r - b : r;
    q = (q + up) & 0x7f;
    int negative = (as_int(x) ^ as_int(y)) < 0;
    q = bad ? 0 : (negative ? -q : q);
    r = as_float(as_int(r) ^ (as_int(x) & ARITHF_SIGN));
    return (float2)(bad ? NAN : r, (float)q);
}

FN float remainder(float x, float y)
{
    return arithf_remquo(x, y).x;
}

// The functions that also store, once an address space.
#define ARITHF_STORING(space)                                 \
    FN float fract(float x, space float *whole)               \
    {                                                         \
        float w;                                              \
        float f = arithf_fract(x, &w);                        \
        *whole = w;                                           \
        return f;                                             \
    }                                                         \
    FN float modf(float x, space float *whole)                \
    {                                                         \
        float w;                                              \
        float f = arithf_modf(x, &w);                         \
        *whole = w;                                           \
        return f;                                             \
    }                                                         \
    FN float frexp(float x, space int *exponent)              \
    {                                                         \
        int e;                                                \
        float m = arithf_frexp(x, &e);                        \
        *exponent = e;                                        \
        return m;                                             \
    }                                                         \
    FN float remquo(float x, float y, space int *quotient)    \
    {                                                         \
        float2 r = arithf_remquo(x, y);                       \
        *quotient = (int)r.y;                                 \
        return r.x;                                           \
    }

ARITHF_STORING(__private)
ARITHF_STORING(__global)
ARITHF_STORING(__local)
