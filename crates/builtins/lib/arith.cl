// Functions of float and double that are exact or need no more than one rounding: fdim fract frexp ilogb ldexp logb
// maxmag minmag modf nan nextafter round rsqrt hypot fmod remainder remquo. The file is compiled twice, for double with
// DOUBLE defined.
//
// In: numbers; out: the exact result, correctly rounded, but for hypot (1 ULP) and rsqrt (1 ULP). Everything but the
// division with remainder, if the quotient is large, is free of branches.

#define FN __attribute__((overloadable))

#ifdef DOUBLE
#define REAL double
#define REAL2 double2
#define INT long
#define UINT ulong
#define AS_REAL as_double
#define AS_INT as_long
#define AS_UINT as_ulong
// A constant of the type.
#define R(x) x
#define SIGN (long)0x8000000000000000
#define MANTISSA_BITS 52
#define MANTISSA 0xffffffffffffful
#define BIAS 1023
#define ONE 0x3ff0000000000000ul
#define HALF 0x3fe0000000000000ul
#define QUIET_NAN 0x7ff8000000000000ul
#define QUIET_BIT 0x8000000000000ul
#define MIN_NORMAL 0x1p-1022
// A power of two that makes every denormal number normal.
#define DENORMAL_BITS 54
#define DENORMAL_SCALE 0x1p+54
#define BELOW_ONE 0x1.fffffffffffffp-1
// Beyond any exponent, and how far ldexp raises those of denormal results.
#define LDEXP_LIMIT 4000
#define LDEXP_SHIFT 128
#define LDEXP_SCALE 0x1p-128
// Where a square would overflow or vanish, and what brings it back.
#define HYPOT_BIG 0x1p+510
#define HYPOT_SMALL 0x1p-450
#define HYPOT_UP 0x1p+700
#define HYPOT_DOWN 0x1p-700
// Bits of a quotient that one step of a division finds.
#define QUOTIENT_BITS 50
#define QUOTIENT_LIMIT 0x1p+50
// A step of a division is at most twice the largest power of two.
#define LIMITED(bits) __cl_min(bits, 2046)
#else
#define REAL float
#define REAL2 float2
#define INT int
#define UINT uint
#define AS_REAL as_float
#define AS_INT as_int
#define AS_UINT as_uint
#define R(x) x##f
#define SIGN 0x80000000
#define MANTISSA_BITS 23
#define MANTISSA 0x7fffffu
#define BIAS 127
#define ONE 0x3f800000u
#define HALF 0x3f000000u
#define QUIET_NAN 0x7fc00000u
#define QUIET_BIT 0x400000u
#define MIN_NORMAL 0x1p-126f
#define DENORMAL_BITS 24
#define DENORMAL_SCALE 0x1p+24f
#define BELOW_ONE 0x1.fffffep-1f
#define LDEXP_LIMIT 400
#define LDEXP_SHIFT 64
#define LDEXP_SCALE 0x1p-64f
#define HYPOT_BIG 0x1p+62f
#define HYPOT_SMALL 0x1p-50f
#define HYPOT_UP 0x1p+90f
#define HYPOT_DOWN 0x1p-90f
#define QUOTIENT_BITS 22
#define QUOTIENT_LIMIT 0x1p+22f
// No two exponents are so far apart that this would be needed.
#define LIMITED(bits) (bits)
#endif

FN REAL fdim(REAL x, REAL y)
{
    REAL d = x > y ? x - y : R(0.0);
    return x != x ? x : (y != y ? y : d);
}

FN REAL maxmag(REAL x, REAL y)
{
    REAL ax = __cl_fabs(x);
    REAL ay = __cl_fabs(y);
    return ax > ay ? x : (ay > ax ? y : __cl_fmax(x, y));
}

FN REAL minmag(REAL x, REAL y)
{
    REAL ax = __cl_fabs(x);
    REAL ay = __cl_fabs(y);
    return ax < ay ? x : (ay < ax ? y : __cl_fmin(x, y));
}

FN REAL nan(UINT code)
{
    return AS_REAL(QUIET_NAN | (code & (QUIET_BIT - 1)));
}

FN REAL round(REAL x)
{
    REAL a = __cl_fabs(x);
    REAL t = __cl_trunc(a);
    t = a - t >= R(0.5) ? t + R(1.0) : t;
    return __cl_copysign(t, x);
}

FN REAL rsqrt(REAL x)
{
    return R(1.0) / __cl_sqrt(x);
}

FN REAL nextafter(REAL x, REAL y)
{
    INT i = AS_INT(x);
    // Away from zero is one up in the bits, towards it one down; from zero, to the smallest of the sign of y.
    int away = (x < y) == (i >= 0);
    INT step = i + (away ? 1 : -1);
    step = x == R(0.0) ? ((AS_INT(y) & SIGN) | 1) : step;
    REAL r = x == y ? y : AS_REAL(step);
    return x != x ? x : (y != y ? y : r);
}

// The exponent of a finite a > 0, denormal or not: a = m * 2^result with 1 <= m < 2.
static int arith_exponent(REAL a)
{
    int denormal = a < MIN_NORMAL;
    REAL b = denormal ? a * DENORMAL_SCALE : a;
    return (int)(AS_UINT(b) >> MANTISSA_BITS) - (denormal ? BIAS + DENORMAL_BITS : BIAS);
}

// 2^n of a normal result.
static REAL arith_pow2(int n)
{
    return AS_REAL((UINT)(n + BIAS) << MANTISSA_BITS);
}

FN int ilogb(REAL x)
{
    REAL a = __cl_fabs(x);
    int e = arith_exponent(a);
    e = a == R(0.0) ? FP_ILOGB0 : e;
    e = a == INFINITY ? INT_MAX : e;
    return x != x ? FP_ILOGBNAN : e;
}

FN REAL logb(REAL x)
{
    REAL a = __cl_fabs(x);
    REAL e = (REAL)arith_exponent(a);
    e = a == R(0.0) ? -INFINITY : e;
    return a == INFINITY || x != x ? a : e;
}

FN REAL ldexp(REAL x, int n)
{
    REAL a = __cl_fabs(x);
    int still = a == R(0.0) || a == INFINITY || x != x;
    int e = arith_exponent(a);
    // The mantissa in [1, 2), then one multiplication that rounds: denormal results are computed LDEXP_SHIFT powers too
    // large, and scaled down.
    REAL m = a < MIN_NORMAL ? a * DENORMAL_SCALE : a;
    m = AS_REAL((AS_UINT(m) & MANTISSA) | ONE);
    int to = e + __cl_max(__cl_min(n, LDEXP_LIMIT), -LDEXP_LIMIT);
    int low = to < 1 - BIAS;
    int raised = low ? __cl_max(to + LDEXP_SHIFT, 1 - BIAS) : to;
    REAL r = m * arith_pow2(__cl_min(raised, BIAS)) * (low ? LDEXP_SCALE : R(1.0));
    r = to > BIAS ? INFINITY : r;
    return still ? x : __cl_copysign(r, x);
}

// Scaled by a power of two where a square would overflow or vanish.
FN REAL hypot(REAL x, REAL y)
{
    REAL a = __cl_fabs(x);
    REAL b = __cl_fabs(y);
    REAL big = a > b ? a : b;
    REAL up = big > HYPOT_BIG ? HYPOT_DOWN : (big < HYPOT_SMALL ? HYPOT_UP : R(1.0));
    REAL down = big > HYPOT_BIG ? HYPOT_UP : (big < HYPOT_SMALL ? HYPOT_DOWN : R(1.0));
    REAL u = a * up;
    REAL v = b * up;
    REAL r = __cl_sqrt(__cl_fma(u, u, v * v)) * down;
    return a == INFINITY || b == INFINITY ? INFINITY : r;
}

static REAL arith_fract(REAL x, REAL *whole)
{
    REAL w = __cl_floor(x);
    *whole = w;
    REAL f = __cl_fmin(x - w, BELOW_ONE);
    f = __cl_fabs(x) == INFINITY ? R(0.0) : f;
    return x != x ? x : (f == R(0.0) ? __cl_copysign(f, x) : f);
}

static REAL arith_modf(REAL x, REAL *whole)
{
    REAL w = __cl_trunc(x);
    *whole = w;
    REAL f = __cl_fabs(x) == INFINITY ? R(0.0) : x - w;
    return x != x ? x : __cl_copysign(f, x);
}

static REAL arith_frexp(REAL x, int *exponent)
{
    REAL a = __cl_fabs(x);
    int still = a == R(0.0) || a == INFINITY || x != x;
    *exponent = still ? 0 : arith_exponent(a) + 1;
    REAL b = a < MIN_NORMAL ? a * DENORMAL_SCALE : a;
    REAL m = AS_REAL((AS_UINT(b) & MANTISSA) | HALF);
    return still ? x : __cl_copysign(m, x);
}

// a - b * trunc(a / b) for finite a >= 0, b > 0, and the low bits of the quotient, as bits. Long division: each step
// takes QUOTIENT_BITS bits of the quotient, whose product is exact within a fused operation. This is the slow path,
// which stays a call; it must end for any a and b.
static __attribute__((noinline)) REAL2 arith_divide_long(REAL a, REAL b)
{
    int good = a < INFINITY && b > R(0.0);
    a = good ? a : R(0.0);
    b = good ? b : R(1.0);
    int bits = 0;
    int eb = arith_exponent(b);
    while (a >= b) {
        // b * 2^k in two steps, as k may exceed the range of exponents.
        int k = LIMITED(__cl_max(arith_exponent(a) - eb - QUOTIENT_BITS, 0));
        REAL c = b * arith_pow2(k >> 1) * arith_pow2(k - (k >> 1));
        REAL q = __cl_trunc(a / c);
        REAL r = __cl_fma(-q, c, a);
        // The division may have rounded up to the next integer.
        int over = r < R(0.0);
        a = over ? r + c : r;
        INT n = (INT)q - (over ? 1 : 0);
        bits += k < 8 ? (int)(n & 0xff) << k : 0;
    }
    return (REAL2)(a, AS_REAL((INT)bits));
}

// The same; a quotient below 2^QUOTIENT_BITS takes one step.
static REAL arith_divide(REAL a, REAL b, int *quotient)
{
    REAL q = __cl_trunc(a / b);
    REAL r = __cl_fma(-q, b, a);
    int over = r < R(0.0);
    r = over ? r + b : r;
    r = a < b ? a : r;
    int bits = (int)((INT)q - (over ? 1 : 0));
    if (a >= b * QUOTIENT_LIMIT) {
        REAL2 all = arith_divide_long(a, b);
        r = all.x;
        bits = (int)AS_INT(all.y);
    }
    *quotient = bits & 0xff;
    return r;
}

FN REAL fmod(REAL x, REAL y)
{
    REAL a = __cl_fabs(x);
    REAL b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > R(0.0));
    int q;
    REAL r = arith_divide(bad ? R(0.0) : a, bad ? R(1.0) : b, &q);
    return bad ? NAN : __cl_copysign(r, x);
}

// The remainder of the nearest quotient, and seven bits of the quotient with its sign.
static REAL2 arith_remquo(REAL x, REAL y)
{
    REAL a = __cl_fabs(x);
    REAL b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > R(0.0));
    int q;
    REAL r = arith_divide(bad ? R(0.0) : a, bad ? R(1.0) : b, &q);
    // Compared without doubling, which could overflow; a tie goes to the even quotient.
    REAL rest = b - r;
    int up = !bad && (r > rest || (r == rest && (q & 1)));
    r = up ? r - b : r;
    q = (q + up) & 0x7f;
    int negative = (AS_INT(x) ^ AS_INT(y)) < 0;
    q = bad ? 0 : (negative ? -q : q);
    r = AS_REAL(AS_INT(r) ^ (AS_INT(x) & SIGN));
    return (REAL2)(bad ? NAN : r, (REAL)q);
}

FN REAL remainder(REAL x, REAL y)
{
    return arith_remquo(x, y).x;
}

// The functions that also store, once an address space.
#define STORING(space)                                       \
    FN REAL fract(REAL x, space REAL *whole)                 \
    {                                                        \
        REAL w;                                              \
        REAL f = arith_fract(x, &w);                         \
        *whole = w;                                          \
        return f;                                            \
    }                                                        \
    FN REAL modf(REAL x, space REAL *whole)                  \
    {                                                        \
        REAL w;                                              \
        REAL f = arith_modf(x, &w);                          \
        *whole = w;                                          \
        return f;                                            \
    }                                                        \
    FN REAL frexp(REAL x, space int *exponent)               \
    {                                                        \
        int e;                                               \
        REAL m = arith_frexp(x, &e);                         \
        *exponent = e;                                       \
        return m;                                            \
    }                                                        \
    FN REAL remquo(REAL x, REAL y, space int *quotient)      \
    {                                                        \
        REAL2 r = arith_remquo(x, y);                        \
        *quotient = (int)r.y;                                \
        return r.x;                                          \
    }

STORING(__private)
STORING(__global)
STORING(__local)
