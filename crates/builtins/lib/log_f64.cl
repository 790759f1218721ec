// Logarithms and inverse hyperbolic functions of double: log log2 log10 log1p asinh acosh atanh.
//
// The decomposition of log_f32.cl; here log(1 + f) is a series in s = f / (2 + f), which converges twice as fast for
// one division: log(1 + f) = 2 atanh(s) = f - f^2/2 + s * (f^2/2 + s^2 P(s^2)). It is kept as a sum of two doubles, so
// that the factor of another base and the whole exponents can be brought in without losing bits.

#define FN __attribute__((overloadable))

// The bits of sqrt(1/2).
#define LOGD_SPLIT 0x3fe6a09e667f3bcdul

static int logd_exponent(double x)
{
    return (int)((long)(as_ulong(x) - LOGD_SPLIT) >> 52);
}

static double logd_mantissa(double x)
{
    return as_double(((as_ulong(x) - LOGD_SPLIT) & 0xffffffffffffful) + LOGD_SPLIT);
}

// The result of every logarithm outside of the positive finite numbers.
static double logd_special(double x, double y)
{
    y = x == 0.0 ? -INFINITY : y;
    y = x < 0.0 ? NAN : y;
    return x == INFINITY || x != x ? x : y;
}

// log(1 + f) = result + *low for f in [-0.293, 0.4143].
static double logd_core(double f, double *low)
{
    double s = f / (2.0 + f);
    double z = s * s;
    double p = __cl_fma(0x1.2f0e5a09f70c4p-3, z, 0x1.39a0dee34df3dp-3);
    p = __cl_fma(p, z, 0x1.74664720c7abbp-3);
    p = __cl_fma(p, z, 0x1.c71c51e2ae487p-3);
    p = __cl_fma(p, z, 0x1.249249421f409p-2);
    p = __cl_fma(p, z, 0x1.999999997fa88p-2);
    p = __cl_fma(p, z, 0x1.5555555555593p-1);
    double f2 = 0.5 * f;
    double q = f2 * f;
    double q_low = __cl_fma(f2, f, -q);
    double h = f - q;
    *low = __cl_fma(s, __cl_fma(z, p, q), ((f - h) - q) - q_low);
    return h;
}

FN double log(double x)
{
    int denormal = x < 0x1p-1022;
    double y = denormal ? x * 0x1p+52 : x;
    double n = (double)(logd_exponent(y) - (denormal ? 52 : 0));
    double l;
    double h = logd_core(logd_mantissa(y) - 1.0, &l);
    // The upper part of log(2) has 42 bits: its product with n is exact.
    l = __cl_fma(n, 0x1.ef35793c7673p-45, l);
    return logd_special(x, __cl_fma(n, 0x1.62e42fefa38p-1, h + l));
}

// (n + (h + l) * log_b(e)), log_b(e) given in two parts.
static double logd_base(double n, double h, double l, double e_high, double e_low)
{
    double p = h * e_high;
    double p_low = __cl_fma(h, e_high, -p) + __cl_fma(h, e_low, l * e_high);
    double sum = n + p;
    double rest = n == 0.0 ? 0.0 : p - (sum - n);
    return sum + (rest + p_low);
}

FN double log2(double x)
{
    int denormal = x < 0x1p-1022;
    double y = denormal ? x * 0x1p+52 : x;
    double n = (double)(logd_exponent(y) - (denormal ? 52 : 0));
    double l;
    double h = logd_core(logd_mantissa(y) - 1.0, &l);
    return logd_special(x, logd_base(n, h, l, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
}

FN double log10(double x)
{
    int denormal = x < 0x1p-1022;
    double y = denormal ? x * 0x1p+52 : x;
    double n = (double)(logd_exponent(y) - (denormal ? 52 : 0));
    double l;
    double h = logd_core(logd_mantissa(y) - 1.0, &l);
    // log10(2) in two parts, the upper one with 42 bits; the lower product joins the low part, before its factor.
    double low = n * 0x1.fef311f12b358p-46;
    double r = logd_base(n * 0x1.34413509f78p-2, h, l, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
    return logd_special(x, r + low);
}

FN double log1p(double x)
{
    double u = 1.0 + x;
    // The rounding error of the sum, so that log(1 + x) = log(u + c) = log(u) + c / u.
    double c = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
    int e = logd_exponent(u);
    int near = e == 0;
    double l;
    double h = logd_core(near ? x : logd_mantissa(u) - 1.0, &l);
    double n = (double)e;
    l += near ? 0.0 : c / u;
    l = __cl_fma(n, 0x1.ef35793c7673p-45, l);
    double y = __cl_fma(n, 0x1.62e42fefa38p-1, h + l);
    y = x == -1.0 ? -INFINITY : y;
    y = x < -1.0 ? NAN : y;
    return __cl_fabs(x) < 0x1p-54 || x == INFINITY || x != x ? x : y;
}

FN double asinh(double x)
{
    double a = __cl_fabs(x);
    int big = a >= 0x1p+54;
    double z = a * a;
    double t = big ? a : a + z / (1.0 + __cl_sqrt(1.0 + z));
    return __cl_copysign(log1p(t) + (big ? 0x1.62e42fefa39efp-1 : 0.0), x);
}

FN double acosh(double x)
{
    int big = x >= 0x1p+54;
    double d = x - 1.0;
    double t = big ? x : d + __cl_sqrt(__cl_fma(d, d, d + d));
    double y = log1p(t) + (big ? 0x1.62e42fefa39efp-1 : 0.0);
    return x < 1.0 ? NAN : y;
}

FN double atanh(double x)
{
    double a = __cl_fabs(x);
    return __cl_copysign(0.5 * log1p((a + a) / (1.0 - a)), x);
}
