// Powers and roots of float: pow powr pown rootn cbrt.
//
// In: floats, for pown and rootn an integer; out: the result within 1 to 2 ULP, with a machine's instructions within 5
// (16 are allowed). x^y = 2^(y * log2 x) needs log2 x to eight more bits than a float has, because the exponent
// multiplies its error by up to 150: it is kept as a sum of two floats (Dekker, "A floating-point technique for
// extending the available precision", 1971, with fused operations).

#define FN __attribute__((overloadable))
#define POWF_MAGIC 0x1.8p+23f
// A quotient that need not be the nearest number; b is neither small nor large.
#ifdef HAS_INSTRUCTIONS
#define POWF_QUOTIENT(a, b) ((a) * native_recip(b))
#else
#define POWF_QUOTIENT(a, b) ((a) / (b))
#endif

// log2(a) of a positive finite a, as result + *low.
static float powf_log2(float a, float *low)
{
    int denormal = a < 0x1p-126f;
    a = denormal ? a * 0x1p+24f : a;
    uint i = as_uint(a) - 0x3f3504f3u;
    float n = (float)(((int)i >> 23) - (denormal ? 24 : 0));
    float m = as_float((i & 0x7fffffu) + 0x3f3504f3u);
    // s = (m - 1) / (m + 1), in two parts; log2(m) = s * (2/ln 2 + s^2 Q(s^2)).
    float num = m - 1.0f;
    float den = m + 1.0f;
    float den_low = m - (den - 1.0f);
    // Neither quotient need be the nearest: the second has what the first lacks, to half its digits.
    float s = POWF_QUOTIENT(num, den);
    float s_low = POWF_QUOTIENT(__cl_fma(-s, den, num) - s * den_low, den);
    float z = s * s;
    float q = __cl_fma(0x1.58b838p-2f, z, 0x1.a5cea4p-2f);
    q = __cl_fma(q, z, 0x1.2776e2p-1f);
    q = __cl_fma(q, z, 0x1.ec709ep-1f);
    // s * 2/ln 2, in two parts, then the tail, then n: each sum keeps what it rounds off.
    float h = s * 0x1.715476p+1f;
    float l = __cl_fma(s, 0x1.715476p+1f, -h);
    l = __cl_fma(s, 0x1.4ae0cp-25f, __cl_fma(s_low, 0x1.715476p+1f, l));
    l = __cl_fma(z * s, q, l);
    float t = n + h;
    l += n == 0.0f ? 0.0f : h - (t - n);
    float sum = t + l;
    *low = l - (sum - t);
    return sum;
}

// 2^(h + l); l is small compared with h. Of a NaN it is one with a machine's instructions, else a number.
static float powf_exp2(float h, float l)
{
#ifdef HAS_INSTRUCTIONS
    float c = h > 130.0f ? 130.0f : h;
    c = c < -152.0f ? -152.0f : c;
#else
    float c = __cl_fmin(__cl_fmax(h, -152.0f), 130.0f);
#endif
    l = c == h ? l : 0.0f;
    float t = c + POWF_MAGIC;
    float r = (c - (t - POWF_MAGIC)) + l;
#ifdef HAS_INSTRUCTIONS
    float power = __cl_exp2_near(r);
#else
    // (2^r - 1) / r
    float p = __cl_fma(0x1.440e14p-13f, r, 0x1.5ef4eep-10f);
    p = __cl_fma(p, r, 0x1.3b2a54p-7f);
    p = __cl_fma(p, r, 0x1.c6af9ep-5f);
    p = __cl_fma(p, r, 0x1.ebfbep-3f);
    p = __cl_fma(p, r, 0x1.62e43p-1f);
    float power = __cl_fma(p, r, 1.0f);
#endif
    int n = (int)(as_uint(t) - as_uint(POWF_MAGIC));
    int half_n = n >> 1;
    return power * as_float((half_n + 127) << 23) * as_float((n - half_n + 127) << 23);
}

// a^y for a positive finite a.
static float powf_positive(float a, float y)
{
    float l;
    float h = powf_log2(a, &l);
    float p = y * h;
    return powf_exp2(p, __cl_fma(y, h, -p) + y * l);
}

static float powf_negate_if(int c, float x)
{
    return as_float(as_uint(x) ^ (c ? 0x80000000u : 0u));
}

// The magnitude of x^y where |x| is 0 or infinite.
static float powf_edge(float a, int grows)
{
    return (a == 0.0f) == grows ? 0.0f : INFINITY;
}

FN float pow(float x, float y)
{
    float a = __cl_fabs(x);
    float ay = __cl_fabs(y);
    int integer = __cl_trunc(y) == y;
    // From 2^24 on every float is even.
    int odd = integer && ay < 0x1p+24f && ((int)y & 1);
    int edge = a == 0.0f || a == INFINITY;
    float r = powf_positive(edge ? 1.0f : a, y);
    // An infinite exponent: 2^(inf * log2 a), but 0 * inf for a = 1.
    float far = a == 1.0f ? 1.0f : ((a > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f);
    r = ay == INFINITY ? far : r;
    r = edge ? powf_edge(a, y > 0.0f) : r;
    r = x < 0.0f && !integer && !edge ? NAN : r;
    r = powf_negate_if(as_int(x) < 0 && odd, r);
    r = x != x || y != y ? NAN : r;
    return y == 0.0f || x == 1.0f ? 1.0f : r;
}

#ifdef HAS_INSTRUCTIONS
FN float powr(float x, float y)
{
    // Where the logarithm is no number or infinite, the instruction gives it, and what is not defined is a NaN on the
    // way: 0 * infinity. It takes a denormal number for zero, so that negative ones are scaled.
    int ordinary = as_uint(x) - 1u < 0x7f7fffffu;
    float l;
    float h = powf_log2(x, &l);
    h = ordinary ? h : __cl_log2_near(x * 0x1p+24f);
    float p = y * h;
    return powf_exp2(p, __cl_fma(y, h, -p) + y * l);
}
#else
FN float powr(float x, float y)
{
    int edge = x == 0.0f || x == INFINITY;
    float r = powf_positive(edge || x < 0.0f ? 1.0f : x, y);
    float far = x == 1.0f ? NAN : ((x > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f);
    r = __cl_fabs(y) == INFINITY ? far : r;
    r = edge ? powf_edge(x, y > 0.0f) : r;
    // 0^0 and inf^0 have no value here: powr is defined by e^(y log x) alone.
    r = y == 0.0f ? (edge ? NAN : 1.0f) : r;
    return x < 0.0f || x != x || y != y ? NAN : r;
}
#endif

FN float pown(float x, int n)
{
    float a = __cl_fabs(x);
    int edge = a == 0.0f || a == INFINITY;
    float l;
    float h = powf_log2(edge || x != x ? 1.0f : a, &l);
    // n in two floats, exactly; the lower one signed, so that small n do not cancel.
    int low = (n << 16) >> 16;
    float n_high = (float)((n >> 16) + (low < 0 ? 1 : 0)) * 65536.0f;
    float n_low = (float)low;
    float p = n_high * h;
    float p_low = __cl_fma(n_high, h, -p) + n_high * l;
    float q = n_low * h;
    float q_low = __cl_fma(n_low, h, -q) + n_low * l;
    float sum = p + q;
    float rest = __cl_fabs(p) > __cl_fabs(q) ? q - (sum - p) : p - (sum - q);
    float r = powf_exp2(sum, rest + (p_low + q_low));
    r = edge ? powf_edge(a, n > 0) : r;
    r = powf_negate_if(as_int(x) < 0 && (n & 1), r);
    r = x != x ? x : r;
    return n == 0 ? 1.0f : r;
}

FN float rootn(float x, int n)
{
    float a = __cl_fabs(x);
    int edge = a == 0.0f || a == INFINITY;
    float l;
    float h = powf_log2(edge || x != x ? 1.0f : a, &l);
    // Beyond 2^24 the rounding of n is far below what the result can show.
    float d = n == 0 ? 1.0f : (float)n;
    float q = h / d;
    float r = powf_exp2(q, (__cl_fma(-q, d, h) + l) / d);
    r = edge ? powf_edge(a, n > 0) : r;
    r = powf_negate_if(as_int(x) < 0 && (n & 1), r);
    r = x < 0.0f && !(n & 1) ? NAN : r;
    r = n == 0 ? NAN : r;
    return x != x ? x : r;
}

FN float cbrt(float x)
{
    float a = __cl_fabs(x);
    // Scaled by a cube where the steps below would leave the range.
    int tiny = a < 0x1p-100f;
    int huge = a > 0x1p+120f;
    float b = a * (tiny ? 0x1p+48f : (huge ? 0x1p-24f : 1.0f));
    // A third of the exponent, two Halley steps from 5 to above 24 bits, one Newton step that rounds well.
    float t = as_float(as_uint(b) / 3u + 0x2a5119f2u);
    float c = t * t * t;
    t = t * ((c + b + b) / (c + c + b));
    c = t * t * t;
    t = t * ((c + b + b) / (c + c + b));
    t += (b / (t * t) - t) * 0x1.555556p-2f;
    t = t * (tiny ? 0x1p-16f : (huge ? 0x1p+8f : 1.0f));
    return a == 0.0f || a == INFINITY || x != x ? x : __cl_copysign(t, x);
}
