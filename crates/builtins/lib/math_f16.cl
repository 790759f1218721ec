// Functions of half.
//
// In: halves; out: the value of the function of float, rounded once. Its error is far below a unit in the last place of
// a half, so that the result is within half a unit and a little of the exact one. Results that are exact in half (fmod,
// frexp, ldexp, logb, modf, remquo, …) stay so: float represents every half, and each exact result on the way. What
// depends on the format itself (fract, nan, nextafter) has a body of its own.

#define FN __attribute__((overloadable))
#define F(x) ((float)(x))

#define ONE(name)                                                  \
    FN half name(half x)                                           \
    {                                                              \
        return (half)name(F(x));                                   \
    }

#define TWO(name)                                                  \
    FN half name(half x, half y)                                   \
    {                                                              \
        return (half)name(F(x), F(y));                             \
    }

#define WITH_INT(name)                                             \
    FN half name(half x, int n)                                    \
    {                                                              \
        return (half)name(F(x), n);                                \
    }

ONE(acos)
ONE(acosh)
ONE(acospi)
ONE(asin)
ONE(asinh)
ONE(asinpi)
ONE(atan)
ONE(atanh)
ONE(atanpi)
ONE(cbrt)
ONE(cos)
ONE(cosh)
ONE(cospi)
ONE(erf)
ONE(erfc)
ONE(exp)
ONE(exp10)
ONE(exp2)
ONE(expm1)
ONE(lgamma)
ONE(log)
ONE(log10)
ONE(log1p)
ONE(log2)
ONE(logb)
ONE(round)
ONE(rsqrt)
ONE(sin)
ONE(sinh)
ONE(sinpi)
ONE(tan)
ONE(tanh)
ONE(tanpi)
ONE(tgamma)

TWO(atan2)
TWO(atan2pi)
TWO(fdim)
TWO(fmod)
TWO(hypot)
TWO(maxmag)
TWO(minmag)
TWO(pow)
TWO(powr)
TWO(remainder)

WITH_INT(ldexp)
WITH_INT(pown)
WITH_INT(rootn)

FN int ilogb(half x)
{
    return ilogb(F(x));
}

FN half nan(ushort code)
{
    return as_half((ushort)(0x7e00 | (code & 0x1ff)));
}

FN half nextafter(half x, half y)
{
    short i = as_short(x);
    // Away from zero is one up in the bits, towards it one down; from zero, to the smallest of the sign of y.
    int away = (x < y) == (i >= 0);
    short step = (short)(i + (away ? 1 : -1));
    step = x == 0.0h ? (short)((as_short(y) & 0x8000) | 1) : step;
    half r = x == y ? y : as_half(step);
    return x != x ? x : (y != y ? y : r);
}

// The functions that also store, once an address space.
#define STORING(space)                                             \
    FN half fract(half x, space half *whole)                       \
    {                                                              \
        float w;                                                   \
        half f = (half)fract(F(x), &w);                            \
        *whole = (half)w;                                          \
        /* Below one, also when rounded. */                        \
        return f == 1.0h ? 0x1.ffcp-1h : f;                        \
    }                                                              \
    FN half modf(half x, space half *whole)                        \
    {                                                              \
        float w;                                                   \
        half f = (half)modf(F(x), &w);                             \
        *whole = (half)w;                                          \
        return f;                                                  \
    }                                                              \
    FN half sincos(half x, space half *cosine)                     \
    {                                                              \
        float c;                                                   \
        half s = (half)sincos(F(x), &c);                           \
        *cosine = (half)c;                                         \
        return s;                                                  \
    }                                                              \
    FN half frexp(half x, space int *exponent)                     \
    {                                                              \
        return (half)frexp(F(x), exponent);                        \
    }                                                              \
    FN half lgamma_r(half x, space int *sign)                      \
    {                                                              \
        return (half)lgamma_r(F(x), sign);                         \
    }                                                              \
    FN half remquo(half x, half y, space int *quotient)            \
    {                                                              \
        return (half)remquo(F(x), F(y), quotient);                 \
    }

STORING(__private)
STORING(__global)
STORING(__local)
