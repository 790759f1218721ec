// Functions of double that are exact or need no more than one rounding: fdim fract frexp ilogb ldexp logb maxmag minmag
// modf nan nextafter round rsqrt hypot fmod remainder remquo.
//
// In: doubles; out: the exact result, correctly rounded, but for hypot (1 ULP) and rsqrt (1 ULP). Everything but the
// division with remainder, if the quotient is large, is free of branches.

#define FN __attribute__((overloadable))
#define ARITHD_SIGN (long)0x8000000000000000
#define ARITHD_NORMAL 0x1p-1022

FN double fdim(double x, double y)
{
    double d = x > y ? x - y : 0.0;
    return x != x ? x : (y != y ? y : d);
}

FN double maxmag(double x, double y)
{
    double ax = __cl_fabs(x);
    double ay = __cl_fabs(y);
    return ax > ay ? x : (ay > ax ? y : __cl_fmax(x, y));
}

FN double minmag(double x, double y)
{
    double ax = __cl_fabs(x);
    double ay = __cl_fabs(y);
    return ax < ay ? x : (ay < ax ? y : __cl_fmin(x, y));
}

FN double nan(ulong code)
{
    return as_double(0x7ff8000000000000ul | (code & 0x7fffffffffffful));
}

FN double round(double x)
{
    double a = __cl_fabs(x);
    double t = __cl_trunc(a);
    t = a - t >= 0.5 ? t + 1.0 : t;
    return __cl_copysign(t, x);
}

FN double rsqrt(double x)
{
    return 1.0 / __cl_sqrt(x);
}

FN double nextafter(double x, double y)
{
    long i = as_long(x);
    // Away from zero is one up in the bits, towards it one down; from zero, to the smallest of the sign of y.
    int away = (x < y) == (i >= 0);
    long step = i + (away ? 1 : -1);
    step = x == 0.0 ? ((as_long(y) & ARITHD_SIGN) | 1) : step;
    double r = x == y ? y : as_double(step);
    return x != x ? x : (y != y ? y : r);
}

// The exponent of a finite a > 0, denormal or not: a = m * 2^result with 1 <= m < 2.
static int arithd_exponent(double a)
{
    int denormal = a < ARITHD_NORMAL;
    double b = denormal ? a * 0x1p+54 : a;
    return (int)(as_ulong(b) >> 52) - (denormal ? 1023 + 54 : 1023);
}

// 2^n of a normal result.
static double arithd_pow2(int n)
{
    return as_double((ulong)(n + 1023) << 52);
}

FN int ilogb(double x)
{
    double a = __cl_fabs(x);
    int e = arithd_exponent(a);
    e = a == 0.0 ? FP_ILOGB0 : e;
    e = a == INFINITY ? INT_MAX : e;
    return x != x ? FP_ILOGBNAN : e;
}

FN double logb(double x)
{
    double a = __cl_fabs(x);
    double e = (double)arithd_exponent(a);
    e = a == 0.0 ? -INFINITY : e;
    return a == INFINITY || x != x ? a : e;
}

FN double ldexp(double x, int n)
{
    double a = __cl_fabs(x);
    int still = a == 0.0 || a == INFINITY || x != x;
    int e = arithd_exponent(a);
    // The mantissa in [1, 2), then one multiplication that rounds: denormal results are computed 128 powers too large,
    // and scaled down.
    double m = a < ARITHD_NORMAL ? a * 0x1p+54 : a;
    m = as_double((as_ulong(m) & 0xffffffffffffful) | 0x3ff0000000000000ul);
    int to = e + __cl_max(__cl_min(n, 4000), -4000);
    int low = to < -1022;
    int raised = low ? __cl_max(to + 128, -1022) : to;
    double r = m * arithd_pow2(__cl_min(raised, 1023)) * (low ? 0x1p-128 : 1.0);
    r = to > 1023 ? INFINITY : r;
    return still ? x : __cl_copysign(r, x);
}

// Scaled by a power of two where a square would overflow or vanish.
FN double hypot(double x, double y)
{
    double a = __cl_fabs(x);
    double b = __cl_fabs(y);
    double big = a > b ? a : b;
    double up = big > 0x1p+510 ? 0x1p-700 : (big < 0x1p-450 ? 0x1p+700 : 1.0);
    double down = big > 0x1p+510 ? 0x1p+700 : (big < 0x1p-450 ? 0x1p-700 : 1.0);
    double u = a * up;
    double v = b * up;
    double r = __cl_sqrt(__cl_fma(u, u, v * v)) * down;
    return a == INFINITY || b == INFINITY ? INFINITY : r;
}

static double arithd_fract(double x, double *whole)
{
    double w = __cl_floor(x);
    *whole = w;
    double f = __cl_fmin(x - w, 0x1.fffffffffffffp-1);
    f = __cl_fabs(x) == INFINITY ? 0.0 : f;
    return x != x ? x : (f == 0.0 ? __cl_copysign(f, x) : f);
}

static double arithd_modf(double x, double *whole)
{
    double w = __cl_trunc(x);
    *whole = w;
    double f = __cl_fabs(x) == INFINITY ? 0.0 : x - w;
    return x != x ? x : __cl_copysign(f, x);
}

static double arithd_frexp(double x, int *exponent)
{
    double a = __cl_fabs(x);
    int still = a == 0.0 || a == INFINITY || x != x;
    *exponent = still ? 0 : arithd_exponent(a) + 1;
    double b = a < ARITHD_NORMAL ? a * 0x1p+54 : a;
    double m = as_double((as_ulong(b) & 0xffffffffffffful) | 0x3fe0000000000000ul);
    return still ? x : __cl_copysign(m, x);
}

// a - b * trunc(a / b) for finite a >= 0, b > 0, and the low bits of the quotient, as bits. Long division: each step
// takes 50 bits of the quotient, whose product is exact within a fused operation. This is the slow path, which stays a
// call; it must end for any a and b.
static __attribute__((noinline)) double2 arithd_divide_long(double a, double b)
{
    int good = a < INFINITY && b > 0.0;
    a = good ? a : 0.0;
    b = good ? b : 1.0;
    int bits = 0;
    int eb = arithd_exponent(b);
    while (a >= b) {
        // b * 2^k in two steps, as k may exceed the range of exponents.
        int k = __cl_min(__cl_max(arithd_exponent(a) - eb - 50, 0), 2046);
        double c = b * arithd_pow2(k >> 1) * arithd_pow2(k - (k >> 1));
        double q = __cl_trunc(a / c);
        double r = __cl_fma(-q, c, a);
        // The division may have rounded up to the next integer.
        int over = r < 0.0;
        a = over ? r + c : r;
        long n = (long)q - (over ? 1 : 0);
        bits += k < 8 ? (int)(n & 0xff) << k : 0;
    }
    return (double2)(a, as_double((long)bits));
}

// The same; a quotient below 2^50 takes one step.
static double arithd_divide(double a, double b, int *quotient)
{
    double q = __cl_trunc(a / b);
    double r = __cl_fma(-q, b, a);
    int over = r < 0.0;
    r = over ? r + b : r;
    r = a < b ? a : r;
    int bits = (int)((long)q - (over ? 1 : 0));
    if (a >= b * 0x1p+50) {
        double2 all = arithd_divide_long(a, b);
        r = all.x;
        bits = (int)as_long(all.y);
    }
    *quotient = bits & 0xff;
    return r;
}

FN double fmod(double x, double y)
{
    double a = __cl_fabs(x);
    double b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > 0.0);
    int q;
    double r = arithd_divide(bad ? 0.0 : a, bad ? 1.0 : b, &q);
    return bad ? NAN : __cl_copysign(r, x);
}

// The remainder of the nearest quotient, and seven bits of the quotient with its sign.
static double2 arithd_remquo(double x, double y)
{
    double a = __cl_fabs(x);
    double b = __cl_fabs(y);
    int bad = !(a < INFINITY) || !(b > 0.0);
    int q;
    double r = arithd_divide(bad ? 0.0 : a, bad ? 1.0 : b, &q);
    // Compared without doubling, which could overflow; a tie goes to the even quotient.
    double rest = b - r;
    int up = !bad && (r > rest || (r == rest && (q & 1)));
    r = up ? r - b : r;
    q = (q + up) & 0x7f;
    int negative = (as_long(x) ^ as_long(y)) < 0;
    q = bad ? 0 : (negative ? -q : q);
    r = as_double(as_long(r) ^ (as_long(x) & ARITHD_SIGN));
    return (double2)(bad ? NAN : r, (double)q);
}

FN double remainder(double x, double y)
{
    return arithd_remquo(x, y).x;
}

// The functions that also store, once an address space.
#define ARITHD_STORING(space)                                 \
    FN double fract(double x, space double *whole)            \
    {                                                         \
        double w;                                             \
        double f = arithd_fract(x, &w);                       \
        *whole = w;                                           \
        return f;                                             \
    }                                                         \
    FN double modf(double x, space double *whole)             \
    {                                                         \
        double w;                                             \
        double f = arithd_modf(x, &w);                        \
        *whole = w;                                           \
        return f;                                             \
    }                                                         \
    FN double frexp(double x, space int *exponent)            \
    {                                                         \
        int e;                                                \
        double m = arithd_frexp(x, &e);                       \
        *exponent = e;                                        \
        return m;                                             \
    }                                                         \
    FN double remquo(double x, double y, space int *quotient) \
    {                                                         \
        double2 r = arithd_remquo(x, y);                      \
        *quotient = (int)r.y;                                 \
        return r.x;                                           \
    }

ARITHD_STORING(__private)
ARITHD_STORING(__global)
ARITHD_STORING(__local)
