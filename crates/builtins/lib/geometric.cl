// Geometric functions: dot length distance normalize cross and their fast_ versions.
//
// In: floats, doubles or halves, scalars and vectors of up to four; out: results within the limits of the specification, with
// lengths that neither overflow nor vanish where the result can be told: components are scaled by a power of two first.

#define FN __attribute__((overloadable))

// Powers of two that bring the largest of the components, m, to where its square is safe, and back.
#define UP_float(m) ((m) > 0x1p+60f ? 0x1p-90f : ((m) < 0x1p-50f ? 0x1p+90f : 1.0f))
#define DOWN_float(m) ((m) > 0x1p+60f ? 0x1p+90f : ((m) < 0x1p-50f ? 0x1p-90f : 1.0f))
#define UP_double(m) ((m) > 0x1p+508 ? 0x1p-700 : ((m) < 0x1p-450 ? 0x1p+700 : 1.0))
#define DOWN_double(m) ((m) > 0x1p+508 ? 0x1p+700 : ((m) < 0x1p-450 ? 0x1p-700 : 1.0))

#define DOT1(a, b) ((a) * (b))
#define DOT2(a, b) __cl_fma((a).x, (b).x, (a).y * (b).y)
#define DOT3(a, b) __cl_fma((a).x, (b).x, __cl_fma((a).y, (b).y, (a).z * (b).z))
#define DOT4(a, b) (__cl_fma((a).x, (b).x, (a).y * (b).y) + __cl_fma((a).z, (b).z, (a).w * (b).w))

// The largest magnitude; a NaN among the components is ignored here and propagates through the sum.
#define LARGEST1(a) __cl_fabs(a)
#define LARGEST2(a) __cl_fmax(__cl_fabs((a).x), __cl_fabs((a).y))
#define LARGEST3(a) __cl_fmax(LARGEST2(a), __cl_fabs((a).z))
#define LARGEST4(a) __cl_fmax(LARGEST3(a), __cl_fabs((a).w))

// Infinite components become 1 with their sign, the others 0 (a NaN stays): the direction of such a vector.
#define AXIS(T, c) ((c) != (c) ? (c) : __cl_copysign(__cl_fabs(c) == INFINITY ? (T)1 : (T)0, c))
#define AXES1(T, a) AXIS(T, a)
#define AXES2(T, a) (T##2)(AXIS(T, (a).x), AXIS(T, (a).y))
#define AXES3(T, a) (T##3)(AXIS(T, (a).x), AXIS(T, (a).y), AXIS(T, (a).z))
#define AXES4(T, a) (T##4)(AXIS(T, (a).x), AXIS(T, (a).y), AXIS(T, (a).z), AXIS(T, (a).w))

// normalize divides the components scaled up, but never scaled down, where a small one may become denormal and lose
// bits: the length can do without them, the component cannot. Its quotient is scaled instead.
#define GEOMETRIC(T, V, N)                           \
    FN T dot(V a, V b)                               \
    {                                                \
        return DOT##N(a, b);                         \
    }                                                \
    FN T length(V a)                                 \
    {                                                \
        T m = LARGEST##N(a);                         \
        V b = a * UP_##T(m);                         \
        T r = __cl_sqrt(DOT##N(b, b)) * DOWN_##T(m); \
        return m == INFINITY ? INFINITY : r;         \
    }                                                \
    FN T distance(V a, V b)                          \
    {                                                \
        return length(a - b);                        \
    }                                                \
    FN V normalize(V a)                              \
    {                                                \
        T m = LARGEST##N(a);                         \
        T scale = UP_##T(m);                         \
        T after = scale < 1 ? scale : (T)1;          \
        V b = a * scale;                             \
        V c = scale < 1 ? a : b;                     \
        if (m == INFINITY) {                         \
            c = b = AXES##N(T, a);                   \
            after = 1;                               \
        }                                            \
        T l = __cl_sqrt(DOT##N(b, b));               \
        return c / (l == 0 ? (T)1 : l) * after;      \
    }

GEOMETRIC(float, float, 1)
GEOMETRIC(float, float2, 2)
GEOMETRIC(float, float3, 3)
GEOMETRIC(float, float4, 4)
GEOMETRIC(double, double, 1)
GEOMETRIC(double, double2, 2)
GEOMETRIC(double, double3, 3)
GEOMETRIC(double, double4, 4)

// The fast ones square as they are: overflow is theirs to have.
#define FAST(V, N)                                                  \
    FN float fast_length(V a)                                       \
    {                                                               \
        return __cl_sqrt(DOT##N(a, a));                             \
    }                                                               \
    FN float fast_distance(V a, V b)                                \
    {                                                               \
        return fast_length(a - b);                                  \
    }                                                               \
    FN V fast_normalize(V a)                                        \
    {                                                               \
        float s = DOT##N(a, a);                                     \
        return a * (s == 0.0f ? 1.0f : 1.0f / __cl_sqrt(s));        \
    }

FAST(float, 1)
FAST(float2, 2)
FAST(float3, 3)
FAST(float4, 4)

// Kahan's difference of products: corrected for the rounding error of one product.
#define CROSS(T)                                                    \
    static T geometric_minor_##T(T a, T b, T c, T d)                \
    {                                                               \
        T p = c * d;                                                \
        return __cl_fma(a, b, -p) - __cl_fma(c, d, -p);             \
    }                                                               \
    FN T##3 cross(T##3 a, T##3 b)                                   \
    {                                                               \
        return (T##3)(geometric_minor_##T(a.y, b.z, a.z, b.y),      \
                      geometric_minor_##T(a.z, b.x, a.x, b.z),      \
                      geometric_minor_##T(a.x, b.y, a.y, b.x));     \
    }                                                               \
    FN T##4 cross(T##4 a, T##4 b)                                   \
    {                                                               \
        return (T##4)(geometric_minor_##T(a.y, b.z, a.z, b.y),      \
                      geometric_minor_##T(a.z, b.x, a.x, b.z),      \
                      geometric_minor_##T(a.x, b.y, a.y, b.x), 0);  \
    }

CROSS(float)
CROSS(double)

// Halves are computed as floats, where no square overflows or vanishes, and rounded once.
#define HALVES(V, WIDE)                                             \
    FN half dot(V a, V b)                                           \
    {                                                               \
        return (half)dot(WIDE(a), WIDE(b));                         \
    }                                                               \
    FN half length(V a)                                             \
    {                                                               \
        return (half)length(WIDE(a));                               \
    }                                                               \
    FN half distance(V a, V b)                                      \
    {                                                               \
        return (half)distance(WIDE(a), WIDE(b));                    \
    }                                                               \
    FN V normalize(V a)                                             \
    {                                                               \
        return convert_##V(normalize(WIDE(a)));                     \
    }

HALVES(half, convert_float)
HALVES(half2, convert_float2)
HALVES(half3, convert_float3)
HALVES(half4, convert_float4)

FN half3 cross(half3 a, half3 b)
{
    return convert_half3(cross(convert_float3(a), convert_float3(b)));
}
FN half4 cross(half4 a, half4 b)
{
    return convert_half4(cross(convert_float4(a), convert_float4(b)));
}
