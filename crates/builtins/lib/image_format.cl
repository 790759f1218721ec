// Elements of images: from bytes to colours and back, for each channel type and number of channels.
//
// In: the address of an element, and its format; out: the channels in the order of memory, absent ones 0. What a channel
// order makes of them is in image_read.cl and image_write.cl. `__image_load_T` and `__image_store_T` look at the
// format when they run; where it is known, the compiler calls the function of that format instead, by its name
// (`builtins::images`). Conversions as in OpenCL C 8.3: to nearest even, and saturating.

#define FN __attribute__((overloadable))

typedef global const uchar *source;
typedef global uchar *target;

// Of our own: UNORM_INT8 of an sRGB channel order.
#define SRGB_INT8 0x1FD2

// The n channels of an element, and those of two neighbours. The host's memory may begin anywhere; what a GPU has are
// copies in which each element lies at a multiple of its size, so that one access has all its channels.
#ifdef ELEMENTS_ARE_ALIGNED
#define GET(T, n, p) (*(global const T##n *)(p))
#define PUT(T, n, v, p) (*(global T##n *)(p) = (v))
#define GET_PAIR(T, n, twice, p)                                                                   \
    ((T##twice)(((global const T##n *)(p))[0], ((global const T##n *)(p))[1]))
#define GET_HALF(n, p) vloada_half##n(0, (global const half *)(p))
#define PUT_HALF(n, v, p) vstorea_half##n(v, 0, (global half *)(p))
#define GET_HALF_PAIR(n, twice, p)                                                                 \
    (float##twice)(vloada_half##n(0, (global const half *)(p)), vloada_half##n(1, (global const half *)(p)))
#else
#define GET(T, n, p) vload##n(0, (global const T *)(p))
#define PUT(T, n, v, p) vstore##n(v, 0, (global T *)(p))
#define GET_PAIR(T, n, twice, p) vload##twice(0, (global const T *)(p))
#define GET_HALF(n, p) vload_half##n(0, (global const half *)(p))
#define PUT_HALF(n, v, p) vstore_half##n(v, 0, (global half *)(p))
#define GET_HALF_PAIR(n, twice, p) vload_half##twice(0, (global const half *)(p))
#endif

// Loads. One or two channels are padded with zeros.
#define PAD1(V, x) ((V)((x), 0, 0, 0))
#define PAD2(V, v) ((V)((v), 0, 0))

// R: the colour's vector type, its element E. TO(n): a conversion of n channels of type T.
#define LOADS(R, E, letters, format, T, CONVERT)                                                   \
    R FN __image_load_##letters##_##format##x1(source p)                                           \
    {                                                                                              \
        E v = CONVERT(E, convert_##E, *(global const T *)p);                                       \
        return PAD1(R, v);                                                                         \
    }                                                                                              \
    R FN __image_load_##letters##_##format##x2(source p)                                           \
    {                                                                                              \
        E##2 v = CONVERT(E##2, convert_##E##2, GET(T, 2, p));                    \
        return PAD2(R, v);                                                                         \
    }                                                                                              \
    R FN __image_load_##letters##_##format##x4(source p)                                           \
    {                                                                                              \
        return CONVERT(R, convert_##R, GET(T, 4, p));                            \
    }

// The quotient of an integer below 2^17 and n, correctly rounded: times n it is that integer again, on which programs
// that keep numbers in normalised channels rely. 1/n rounded to a float is not enough; what it lacks is added.
#define OVER(n) ((float)(1.0 / (n)))
#define REST(n) ((float)(1.0 / (n) - (double)OVER(n)))
#define QUOTIENT(x, n) times(x, OVER(n), REST(n))

#define TIMES(V)                                                                                   \
    static V FN times(V x, float by, float rest)                                                   \
    {                                                                                              \
        return fma(x, (V)(by), x * rest);                                                          \
    }

TIMES(float)
TIMES(float2)
TIMES(float4)
TIMES(float8)

#define AS_IS(V, TO, x) TO(x)
// Of eight bits, the product is near enough for all that programs do with pixels, and other platforms give the same.
#define UNORM8(V, TO, x) (TO(x) * (1.0f / 255.0f))
#define UNORM16(V, TO, x) QUOTIENT(TO(x), 65535)
#define SNORM8(V, TO, x) max(QUOTIENT(TO(x), 127), (V)(-1.0f))
#define SNORM16(V, TO, x) max(QUOTIENT(TO(x), 32767), (V)(-1.0f))

// Numbers in the high bits of 16.
#define UNORM10X6(V, TO, x) QUOTIENT(TO((x) >> 6), 1023)
#define UNORM12X4(V, TO, x) QUOTIENT(TO((x) >> 4), 4095)
#define UNORM14X2(V, TO, x) QUOTIENT(TO((x) >> 2), 16383)
#define INT10X6(V, TO, x) TO((x) >> 6)
#define INT12X4(V, TO, x) TO((x) >> 4)
#define INT14X2(V, TO, x) TO((x) >> 2)

LOADS(float4, float, f, unorm8, uchar, UNORM8)
LOADS(float4, float, f, unorm16, ushort, UNORM16)
LOADS(float4, float, f, snorm8, char, SNORM8)
LOADS(float4, float, f, snorm16, short, SNORM16)
LOADS(float4, float, f, float, float, AS_IS)
LOADS(int4, int, i, int8, char, AS_IS)
LOADS(int4, int, i, int16, short, AS_IS)
LOADS(int4, int, i, int32, int, AS_IS)
LOADS(uint4, uint, ui, int8, uchar, AS_IS)
LOADS(uint4, uint, ui, int16, ushort, AS_IS)
LOADS(uint4, uint, ui, int32, uint, AS_IS)
LOADS(float4, float, f, unorm10x6, ushort, UNORM10X6)
LOADS(float4, float, f, unorm12x4, ushort, UNORM12X4)
LOADS(float4, float, f, unorm14x2, ushort, UNORM14X2)
LOADS(uint4, uint, ui, int10x6, ushort, INT10X6)
LOADS(uint4, uint, ui, int12x4, ushort, INT12X4)
LOADS(uint4, uint, ui, int14x2, ushort, INT14X2)

float4 FN __image_load_f_halfx1(source p)
{
    return PAD1(float4, GET_HALF(, p));
}

float4 FN __image_load_f_halfx2(source p)
{
    return PAD2(float4, GET_HALF(2, p));
}

float4 FN __image_load_f_halfx4(source p)
{
    return GET_HALF(4, p);
}

// Two neighbours in a row by one load: a linear filter reads half as often.
#define PAIR1(v) (float8)((v).x, 0, 0, 0, (v).y, 0, 0, 0)
#define PAIR2(v) (float8)((v).xy, 0, 0, (v).zw, 0, 0)

#define PAIRS(format, T, CONVERT)                                                                  \
    float8 FN __image_load_pair_f_##format##x1(source p)                                           \
    {                                                                                              \
        float2 v = CONVERT(float2, convert_float2, GET_PAIR(T, , 2, p));                \
        return PAIR1(v);                                                                           \
    }                                                                                              \
    float8 FN __image_load_pair_f_##format##x2(source p)                                           \
    {                                                                                              \
        float4 v = CONVERT(float4, convert_float4, GET_PAIR(T, 2, 4, p));                \
        return PAIR2(v);                                                                           \
    }                                                                                              \
    float8 FN __image_load_pair_f_##format##x4(source p)                                           \
    {                                                                                              \
        return CONVERT(float8, convert_float8, GET_PAIR(T, 4, 8, p));                    \
    }

PAIRS(unorm8, uchar, UNORM8)
PAIRS(unorm16, ushort, UNORM16)
PAIRS(snorm8, char, SNORM8)
PAIRS(snorm16, short, SNORM16)
PAIRS(float, float, AS_IS)
PAIRS(unorm10x6, ushort, UNORM10X6)
PAIRS(unorm12x4, ushort, UNORM12X4)
PAIRS(unorm14x2, ushort, UNORM14X2)

float8 FN __image_load_pair_f_halfx1(source p)
{
    float2 v = GET_HALF_PAIR(, 2, p);
    return PAIR1(v);
}

float8 FN __image_load_pair_f_halfx2(source p)
{
    float4 v = GET_HALF_PAIR(2, 4, p);
    return PAIR2(v);
}

float8 FN __image_load_pair_f_halfx4(source p)
{
    return GET_HALF_PAIR(4, 8, p);
}

// Channels of a few bits of a word; n is the greatest number of such a channel.
#define PART(v, shift, n) QUOTIENT(convert_float((v) >> (shift) & (n)), n)

float4 FN __image_load_f_565x4(source p)
{
    uint v = *(global const ushort *)p;
    return (float4)(PART(v, 11, 31), PART(v, 5, 63), PART(v, 0, 31), 0.0f);
}

float4 FN __image_load_f_555x4(source p)
{
    uint v = *(global const ushort *)p;
    return (float4)(PART(v, 10, 31), PART(v, 5, 31), PART(v, 0, 31), 0.0f);
}

float4 FN __image_load_f_101010x4(source p)
{
    uint v = *(global const uint *)p;
    return (float4)(PART(v, 20, 1023), PART(v, 10, 1023), PART(v, 0, 1023), 0.0f);
}

float4 FN __image_load_f_101010_2x4(source p)
{
    uint v = *(global const uint *)p;
    return (float4)(PART(v, 22, 1023), PART(v, 12, 1023), PART(v, 2, 1023), PART(v, 0, 3));
}

// The highest bits are the first channel's.
float4 FN __image_load_f_2_101010x4(source p)
{
    uint v = *(global const uint *)p;
    return (float4)(PART(v, 30, 3), PART(v, 20, 1023), PART(v, 10, 1023), PART(v, 0, 1023));
}

float4 FN __image_load_f_srgb8x4(source p)
{
    float4 v = QUOTIENT(convert_float4(GET(uchar, 4, p)), 255);
    float3 low = v.xyz * (1.0f / 12.92f);
    float3 high = exp2(2.4f * log2((v.xyz + 0.055f) * (1.0f / 1.055f)));
    return (float4)(select(high, low, v.xyz <= 0.04045f), v.w);
}

// Two of these are two loads.
#define TWO(format, size)                                                                          \
    float8 FN __image_load_pair_f_##format(source p)                                               \
    {                                                                                              \
        return (float8)(__image_load_f_##format(p), __image_load_f_##format(p + (size)));          \
    }

TWO(565x4, 2)
TWO(555x4, 2)
TWO(101010x4, 4)
TWO(101010_2x4, 4)
TWO(2_101010x4, 4)
TWO(srgb8x4, 4)

// Channels of an order.
static uint channels(uint order)
{
    switch (order) {
    case CLK_R:
    case CLK_A:
    case CLK_INTENSITY:
    case CLK_LUMINANCE:
    case CLK_DEPTH:
        return 1;
    case CLK_RG:
    case CLK_RA:
    case CLK_Rx:
        return 2;
    default:
        return 4;
    }
}

static uint is_srgb(uint order)
{
    return order >= CLK_sRGB && order <= CLK_sBGRA;
}

#define BY_CHANNELS(name, ...)                                                                     \
    switch (channels(order)) {                                                                     \
    case 1:                                                                                        \
        return name##x1(__VA_ARGS__);                                                              \
    case 2:                                                                                        \
        return name##x2(__VA_ARGS__);                                                              \
    default:                                                                                       \
        return name##x4(__VA_ARGS__);                                                              \
    }

float4 FN __image_load_f(source p, uint order, uint type)
{
    switch (type) {
    case CLK_SNORM_INT8:
        BY_CHANNELS(__image_load_f_snorm8, p)
    case CLK_SNORM_INT16:
        BY_CHANNELS(__image_load_f_snorm16, p)
    case CLK_UNORM_INT8:
        if (is_srgb(order))
            return __image_load_f_srgb8x4(p);
        BY_CHANNELS(__image_load_f_unorm8, p)
    case CLK_UNORM_INT16:
        BY_CHANNELS(__image_load_f_unorm16, p)
    case CLK_UNORM_SHORT_565:
        return __image_load_f_565x4(p);
    case CLK_UNORM_SHORT_555:
        return __image_load_f_555x4(p);
    case CLK_UNORM_INT_101010:
        return __image_load_f_101010x4(p);
    case CLK_UNORM_INT_101010_2:
        return __image_load_f_101010_2x4(p);
    case CLK_UNORM_INT_2_101010_EXT:
        return __image_load_f_2_101010x4(p);
    case CLK_UNORM_INT10X6_EXT:
        BY_CHANNELS(__image_load_f_unorm10x6, p)
    case CLK_UNORM_INT12X4_EXT:
        BY_CHANNELS(__image_load_f_unorm12x4, p)
    case CLK_UNORM_INT14X2_EXT:
        BY_CHANNELS(__image_load_f_unorm14x2, p)
    case CLK_HALF_FLOAT:
        BY_CHANNELS(__image_load_f_half, p)
    case CLK_FLOAT:
        BY_CHANNELS(__image_load_f_float, p)
    default:
        return 0;
    }
}

// Where the format is not known, neighbours are loaded one by one.
float8 FN __image_load_pair_f(source p, uint order, uint type)
{
    return 0;
}

int4 FN __image_load_i(source p, uint order, uint type)
{
    switch (type) {
    case CLK_SIGNED_INT8:
        BY_CHANNELS(__image_load_i_int8, p)
    case CLK_SIGNED_INT16:
        BY_CHANNELS(__image_load_i_int16, p)
    case CLK_SIGNED_INT32:
        BY_CHANNELS(__image_load_i_int32, p)
    default:
        return 0;
    }
}

uint4 FN __image_load_ui(source p, uint order, uint type)
{
    switch (type) {
    case CLK_UNSIGNED_INT8:
        BY_CHANNELS(__image_load_ui_int8, p)
    case CLK_UNSIGNED_INT16:
        BY_CHANNELS(__image_load_ui_int16, p)
    case CLK_UNSIGNED_INT32:
        BY_CHANNELS(__image_load_ui_int32, p)
    case CLK_UNSIGNED_INT10X6_EXT:
        BY_CHANNELS(__image_load_ui_int10x6, p)
    case CLK_UNSIGNED_INT12X4_EXT:
        BY_CHANNELS(__image_load_ui_int12x4, p)
    case CLK_UNSIGNED_INT14X2_EXT:
        BY_CHANNELS(__image_load_ui_int14x2, p)
    default:
        return 0;
    }
}

// Stores.
#define STORES(R, letters, format, T, SCALED)                                                      \
    void FN __image_store_##letters##_##format##x1(target p, R v)                                  \
    {                                                                                              \
        *(global T *)p = SCALED(convert_##T##_sat, v.x);                                           \
    }                                                                                              \
    void FN __image_store_##letters##_##format##x2(target p, R v)                                  \
    {                                                                                              \
        PUT(T, 2, SCALED(convert_##T##2_sat, v.xy), p);                               \
    }                                                                                              \
    void FN __image_store_##letters##_##format##x4(target p, R v)                                  \
    {                                                                                              \
        PUT(T, 4, SCALED(convert_##T##4_sat, v), p);                                  \
    }

#define TO_INT(TO, x) TO(x)
#define TO_UNORM8(TO, x) TO##_rte((x)*255.0f)
#define TO_UNORM16(TO, x) TO##_rte((x)*65535.0f)
#define TO_SNORM8(TO, x) TO##_rte((x)*127.0f)
#define TO_SNORM16(TO, x) TO##_rte((x)*32767.0f)
#define TO_UNORM10X6(TO, x) (TO##_rte(clamp((x), 0.0f, 1.0f) * 1023.0f) << 6)
#define TO_UNORM12X4(TO, x) (TO##_rte(clamp((x), 0.0f, 1.0f) * 4095.0f) << 4)
#define TO_UNORM14X2(TO, x) (TO##_rte(clamp((x), 0.0f, 1.0f) * 16383.0f) << 2)
#define TO_INT10X6(TO, x) (TO(min((x), 1023u)) << 6)
#define TO_INT12X4(TO, x) (TO(min((x), 4095u)) << 4)
#define TO_INT14X2(TO, x) (TO(min((x), 16383u)) << 2)

STORES(float4, f, unorm8, uchar, TO_UNORM8)
STORES(float4, f, unorm16, ushort, TO_UNORM16)
STORES(float4, f, snorm8, char, TO_SNORM8)
STORES(float4, f, snorm16, short, TO_SNORM16)
STORES(int4, i, int8, char, TO_INT)
STORES(int4, i, int16, short, TO_INT)
STORES(int4, i, int32, int, TO_INT)
STORES(uint4, ui, int8, uchar, TO_INT)
STORES(uint4, ui, int16, ushort, TO_INT)
STORES(uint4, ui, int32, uint, TO_INT)
STORES(float4, f, unorm10x6, ushort, TO_UNORM10X6)
STORES(float4, f, unorm12x4, ushort, TO_UNORM12X4)
STORES(float4, f, unorm14x2, ushort, TO_UNORM14X2)
STORES(uint4, ui, int10x6, ushort, TO_INT10X6)
STORES(uint4, ui, int12x4, ushort, TO_INT12X4)
STORES(uint4, ui, int14x2, ushort, TO_INT14X2)

void FN __image_store_f_floatx1(target p, float4 v)
{
    *(global float *)p = v.x;
}

void FN __image_store_f_floatx2(target p, float4 v)
{
    PUT(float, 2, v.xy, p);
}

void FN __image_store_f_floatx4(target p, float4 v)
{
    PUT(float, 4, v, p);
}

void FN __image_store_f_halfx1(target p, float4 v)
{
    PUT_HALF(, v.x, p);
}

void FN __image_store_f_halfx2(target p, float4 v)
{
    PUT_HALF(2, v.xy, p);
}

void FN __image_store_f_halfx4(target p, float4 v)
{
    PUT_HALF(4, v, p);
}

static uint4 scaled(float4 v, float4 most)
{
    return convert_uint4_sat_rte(clamp(v, 0.0f, 1.0f) * most);
}

void FN __image_store_f_565x4(target p, float4 v)
{
    uint4 c = scaled(v, (float4)(31.0f, 63.0f, 31.0f, 0.0f));
    *(global ushort *)p = (ushort)(c.x << 11 | c.y << 5 | c.z);
}

void FN __image_store_f_555x4(target p, float4 v)
{
    uint4 c = scaled(v, 31.0f);
    *(global ushort *)p = (ushort)(c.x << 10 | c.y << 5 | c.z);
}

void FN __image_store_f_101010x4(target p, float4 v)
{
    uint4 c = scaled(v, 1023.0f);
    *(global uint *)p = c.x << 20 | c.y << 10 | c.z;
}

void FN __image_store_f_101010_2x4(target p, float4 v)
{
    uint4 c = scaled(v, (float4)((float3)1023.0f, 3.0f));
    *(global uint *)p = c.x << 22 | c.y << 12 | c.z << 2 | c.w;
}

void FN __image_store_f_2_101010x4(target p, float4 v)
{
    uint4 c = scaled(v, (float4)(3.0f, (float3)1023.0f));
    *(global uint *)p = c.x << 30 | c.y << 20 | c.z << 10 | c.w;
}

void FN __image_store_f_srgb8x4(target p, float4 v)
{
    float3 linear = clamp(v.xyz, 0.0f, 1.0f);
    float3 high = 1.055f * exp2(log2(linear) * (1.0f / 2.4f)) - 0.055f;
    float3 c = select(high, linear * 12.92f, linear < 0.0031308f);
    PUT(uchar, 4, convert_uchar4_sat_rte((float4)(c, v.w) * 255.0f), p);
}

void FN __image_store_f(target p, uint order, uint type, float4 v)
{
    switch (type) {
    case CLK_SNORM_INT8:
        BY_CHANNELS(__image_store_f_snorm8, p, v)
    case CLK_SNORM_INT16:
        BY_CHANNELS(__image_store_f_snorm16, p, v)
    case CLK_UNORM_INT8:
        if (is_srgb(order)) {
            __image_store_f_srgb8x4(p, v);
            return;
        }
        BY_CHANNELS(__image_store_f_unorm8, p, v)
    case CLK_UNORM_INT16:
        BY_CHANNELS(__image_store_f_unorm16, p, v)
    case CLK_UNORM_SHORT_565:
        __image_store_f_565x4(p, v);
        return;
    case CLK_UNORM_SHORT_555:
        __image_store_f_555x4(p, v);
        return;
    case CLK_UNORM_INT_101010:
        __image_store_f_101010x4(p, v);
        return;
    case CLK_UNORM_INT_101010_2:
        __image_store_f_101010_2x4(p, v);
        return;
    case CLK_UNORM_INT_2_101010_EXT:
        __image_store_f_2_101010x4(p, v);
        return;
    case CLK_UNORM_INT10X6_EXT:
        BY_CHANNELS(__image_store_f_unorm10x6, p, v)
    case CLK_UNORM_INT12X4_EXT:
        BY_CHANNELS(__image_store_f_unorm12x4, p, v)
    case CLK_UNORM_INT14X2_EXT:
        BY_CHANNELS(__image_store_f_unorm14x2, p, v)
    case CLK_HALF_FLOAT:
        BY_CHANNELS(__image_store_f_half, p, v)
    case CLK_FLOAT:
        BY_CHANNELS(__image_store_f_float, p, v)
    }
}

void FN __image_store_i(target p, uint order, uint type, int4 v)
{
    switch (type) {
    case CLK_SIGNED_INT8:
        BY_CHANNELS(__image_store_i_int8, p, v)
    case CLK_SIGNED_INT16:
        BY_CHANNELS(__image_store_i_int16, p, v)
    case CLK_SIGNED_INT32:
        BY_CHANNELS(__image_store_i_int32, p, v)
    }
}

void FN __image_store_ui(target p, uint order, uint type, uint4 v)
{
    switch (type) {
    case CLK_UNSIGNED_INT8:
        BY_CHANNELS(__image_store_ui_int8, p, v)
    case CLK_UNSIGNED_INT16:
        BY_CHANNELS(__image_store_ui_int16, p, v)
    case CLK_UNSIGNED_INT32:
        BY_CHANNELS(__image_store_ui_int32, p, v)
    case CLK_UNSIGNED_INT10X6_EXT:
        BY_CHANNELS(__image_store_ui_int10x6, p, v)
    case CLK_UNSIGNED_INT12X4_EXT:
        BY_CHANNELS(__image_store_ui_int12x4, p, v)
    case CLK_UNSIGNED_INT14X2_EXT:
        BY_CHANNELS(__image_store_ui_int14x2, p, v)
    }
}
