// Powers and roots of double: pow powr pown rootn cbrt.
//
// As in pow_f32.cl; the logarithm's first three coefficients are also sums of two doubles, because the exponent
// multiplies its error by up to 1075.

#define FN __attribute__((overloadable))
#define POWD_MAGIC 0x1.8p+52

// log2(a) of a positive finite a, as result + *low, to about 65 bits.
static double powd_log2(double a, double *low)
{
    int denormal = a < 0x1p-1022;
    a = denormal ? a * 0x1p+54 : a;
    ulong i = as_ulong(a) - 0x3fe6a09e667f3bcdul;
    double n = (double)((int)((long)i >> 52) - (denormal ? 54 : 0));
    double m = as_double((i & 0xffffffffffffful) + 0x3fe6a09e667f3bcdul);
    // s = (m - 1) / (m + 1) and z = s^2, in two parts each; log2(m) = s * (C1 + z * (C3 + z * Q(z))).
    double num = m - 1.0;
    double den = m + 1.0;
    double den_low = m - (den - 1.0);
    double s = num / den;
    double s_low = (__cl_fma(-s, den, num) - s * den_low) / den;
    double z = s * s;
    double z_low = __cl_fma(s, s, -z) + 2.0 * s * s_low;
    double q = __cl_fma(0x1.6248bddf749f1p-3, z, 0x1.58f14345a1022p-3);
    q = __cl_fma(q, z, 0x1.8a0a58a19e212p-3);
    q = __cl_fma(q, z, 0x1.c68ee4b04e192p-3);
    q = __cl_fma(q, z, 0x1.0c9a8544fb757p-2);
    q = __cl_fma(q, z, 0x1.484b13d6947d5p-2);
    q = __cl_fma(q, z, 0x1.a61762a7aefcep-2);
    q = __cl_fma(q, z, 0x1.2776c50ef9bfcp-1);
    // C3 + z * Q(z)
    double t = z * q;
    double u = 0x1.ec709dc3a03fdp-1 + t;
    double u_low = ((0x1.ec709dc3a03fdp-1 - u) + t) + (0x1.d27f05548af0cp-55 + __cl_fma(z, q, -t));
    // C1 + z * that
    t = z * u;
    double t_low = __cl_fma(z, u, -t) + __cl_fma(z, u_low, z_low * u);
    double v = 0x1.71547652b82fep+1 + t;
    double v_low = ((0x1.71547652b82fep+1 - v) + t) + (t_low + 0x1.777d0ffda0d24p-55);
    // s * that, then n: each sum keeps what it rounds off.
    double h = s * v;
    double l = __cl_fma(s, v, -h) + __cl_fma(s, v_low, s_low * v);
    double w = n + h;
    l += n == 0.0 ? 0.0 : h - (w - n);
    double sum = w + l;
    *low = l - (sum - w);
    return sum;
}

// 2^(h + l); h may be anything but a NaN, l is small compared with it.
static double powd_exp2(double h, double l)
{
    double c = __cl_fmin(__cl_fmax(h, -1080.0), 1030.0);
    l = c == h ? l : 0.0;
    double t = c + POWD_MAGIC;
    double r = (c - (t - POWD_MAGIC)) + l;
    // (2^r - 1) / r
    double p = __cl_fma(0x1.c4b3d181bfbc2p-36, r, 0x1.e9d3ff1fd3ed7p-32);
    p = __cl_fma(p, r, 0x1.e4cf0617c6dap-28);
    p = __cl_fma(p, r, 0x1.b524fae5a5daap-24);
    p = __cl_fma(p, r, 0x1.62c0224514007p-20);
    p = __cl_fma(p, r, 0x1.ffcbfc670dfddp-17);
    p = __cl_fma(p, r, 0x1.430912f86b11ep-13);
    p = __cl_fma(p, r, 0x1.5d87fe78a5275p-10);
    p = __cl_fma(p, r, 0x1.3b2ab6fba4e79p-7);
    p = __cl_fma(p, r, 0x1.c6b08d704a0c2p-5);
    p = __cl_fma(p, r, 0x1.ebfbdff82c58fp-3);
    p = __cl_fma(p, r, 0x1.62e42fefa39efp-1);
    int n = (int)as_long(t);
    int half_n = n >> 1;
    double up = as_double((long)(half_n + 1023) << 52);
    return __cl_fma(p, r, 1.0) * up * as_double((long)(n - half_n + 1023) << 52);
}

// a^y for a positive finite a.
static double powd_positive(double a, double y)
{
    double l;
    double h = powd_log2(a, &l);
    double p = y * h;
    return powd_exp2(p, __cl_fma(y, h, -p) + y * l);
}

static double powd_negate_if(int c, double x)
{
    return as_double(as_ulong(x) ^ (c ? 0x8000000000000000ul : 0ul));
}

// The magnitude of x^y where |x| is 0 or infinite.
static double powd_edge(double a, int grows)
{
    return (a == 0.0) == grows ? 0.0 : INFINITY;
}

FN double pow(double x, double y)
{
    double a = __cl_fabs(x);
    double ay = __cl_fabs(y);
    int integer = __cl_trunc(y) == y;
    // From 2^53 on every double is even.
    int odd = integer && ay < 0x1p+53 && ((long)y & 1);
    int edge = a == 0.0 || a == INFINITY;
    double r = powd_positive(edge ? 1.0 : a, y);
    // An infinite exponent: 2^(inf * log2 a), but 0 * inf for a = 1.
    double far = a == 1.0 ? 1.0 : ((a > 1.0) == (y > 0.0) ? INFINITY : 0.0);
    r = ay == INFINITY ? far : r;
    r = edge ? powd_edge(a, y > 0.0) : r;
    r = x < 0.0 && !integer && !edge ? NAN : r;
    r = powd_negate_if(as_long(x) < 0 && odd, r);
    r = x != x || y != y ? NAN : r;
    return y == 0.0 || x == 1.0 ? 1.0 : r;
}

FN double powr(double x, double y)
{
    int edge = x == 0.0 || x == INFINITY;
    double r = powd_positive(edge || x < 0.0 ? 1.0 : x, y);
    double far = x == 1.0 ? NAN : ((x > 1.0) == (y > 0.0) ? INFINITY : 0.0);
    r = __cl_fabs(y) == INFINITY ? far : r;
    r = edge ? powd_edge(x, y > 0.0) : r;
    // 0^0 and inf^0 have no value here: powr is defined by e^(y log x) alone.
    r = y == 0.0 ? (edge ? NAN : 1.0) : r;
    return x < 0.0 || x != x || y != y ? NAN : r;
}

FN double pown(double x, int n)
{
    double a = __cl_fabs(x);
    int edge = a == 0.0 || a == INFINITY;
    double r = powd_positive(edge || x != x ? 1.0 : a, (double)n);
    r = edge ? powd_edge(a, n > 0) : r;
    r = powd_negate_if(as_long(x) < 0 && (n & 1), r);
    r = x != x ? x : r;
    return n == 0 ? 1.0 : r;
}

FN double rootn(double x, int n)
{
    double a = __cl_fabs(x);
    int edge = a == 0.0 || a == INFINITY;
    double l;
    double h = powd_log2(edge || x != x ? 1.0 : a, &l);
    double d = n == 0 ? 1.0 : (double)n;
    double q = h / d;
    double r = powd_exp2(q, (__cl_fma(-q, d, h) + l) / d);
    r = edge ? powd_edge(a, n > 0) : r;
    r = powd_negate_if(as_long(x) < 0 && (n & 1), r);
    r = x < 0.0 && !(n & 1) ? NAN : r;
    r = n == 0 ? NAN : r;
    return x != x ? x : r;
}

FN double cbrt(double x)
{
    double a = __cl_fabs(x);
    int tiny = a < 0x1p-1022;
    ulong bits = as_ulong(tiny ? a * 0x1p+54 : a);
    // a = m * 8^k with m in [1, 8).
    int e = (int)(bits >> 52) + (tiny ? 2049 - 54 : 2049);
    int k = (int)((uint)e / 3u);
    double m = as_double((bits & 0xffffffffffffful) | (ulong)(1023 + e - 3 * k) << 52);
    // A third of the exponent bits, two Halley steps of float, one of double, one Newton step that rounds well.
    float b = (float)m;
    float t = as_float(as_uint(b) / 3u + 0x2a5119f2u);
    float c = t * t * t;
    t = t * ((c + b + b) / (c + c + b));
    c = t * t * t;
    t = t * ((c + b + b) / (c + c + b));
    double y = t;
    double d = y * y * y;
    y = y * ((d + m + m) / (d + d + m));
    y += (m / (y * y) - y) * 0x1.5555555555555p-2;
    // 2049 and the bias come to 1024 * 3.
    y *= as_double((long)(k - 1024 + 1023) << 52);
    return a == 0.0 || a == INFINITY || x != x ? x : __cl_copysign(y, x);
}
