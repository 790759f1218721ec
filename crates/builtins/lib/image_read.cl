// read_imagef, read_imagei, read_imageui.
//
// In: the image's descriptor (`ir::abi::image`), the sampler's bits, the coordinates one by one; out: the colour. Where
// format and sampler are constants, next to nothing of the choices below is left. Addressing and filtering as in OpenCL
// C 8.2: coordinates are unnormalised, wrapped, and rounded down; a linear filter weighs the two neighbours in
// each dimension. A sampler that clamps reads the border colour outside; all others stay inside, and so does a read
// without sampler: no coordinate makes a kernel read other memory. What is read where the specification leaves it
// undefined is the nearest element.
//
// A GPU filters by its texture units (`HAS_TEXTURES`) where a launch finds that an image has a texture, and the units
// are precise enough: their weights have 8 bits. A texture is all rows of an image, one slice or layer below the other,
// and clamps to its edge. So what a filter needs of the border colour or of the opposite edge is left to the code, and
// of the neighbours in the third dimension, the unit gives each.

#define FN __attribute__((overloadable))

typedef constant ulong *image;
typedef global const uchar *source;

uint FN __image_channel_order(image d);
uint FN __image_channel_type(image d);
uint FN __image_element_size(image d);
uint FN __image_is_large(image d);
uint FN __image_is_column(image d);
float8 FN __image_load_pair_f(source p, uint order, uint type);
float4 FN __image_load_f(source p, uint order, uint type);
int4 FN __image_load_i(source p, uint order, uint type);
uint4 FN __image_load_ui(source p, uint order, uint type);

#define FIELD(d, offset) (((constant int *)(d))[(offset) / 4])
#define WIDTH(d) FIELD(d, 24)
#define HEIGHT(d) FIELD(d, 28)
#define DEPTH(d) FIELD(d, 32)
#define LAYERS(d) FIELD(d, 36)

// Bits of samplers.
#define IS_NORMALISED(s) ((s)&1)
#define ADDRESSING(s) ((s)&0xe)
#define CLAMPS 4
#define REPEATS 6
#define MIRRORS 8
#define IS_LINEAR(s) (((s)&0x30) == 0x20)

// Channels in the order of memory to red, green, blue, alpha.
#define SWIZZLE(V, order, v, one)                                                                  \
    switch (order) {                                                                               \
    case CLK_R:                                                                                    \
    case CLK_Rx:                                                                                   \
    case CLK_DEPTH:                                                                                \
        return (V)(v.x, 0, 0, one);                                                                \
    case CLK_A:                                                                                    \
        return (V)(0, 0, 0, v.x);                                                                  \
    case CLK_RG:                                                                                   \
    case CLK_RGx:                                                                                  \
        return (V)(v.xy, 0, one);                                                                  \
    case CLK_RA:                                                                                   \
        return (V)(v.x, 0, 0, v.y);                                                                \
    case CLK_RGB:                                                                                  \
    case CLK_RGBx:                                                                                 \
    case CLK_sRGB:                                                                                 \
    case CLK_sRGBx:                                                                                \
        return (V)(v.xyz, one);                                                                    \
    case CLK_BGRA:                                                                                 \
    case CLK_sBGRA:                                                                                \
        return v.zyxw;                                                                             \
    case CLK_ARGB:                                                                                 \
        return v.yzwx;                                                                             \
    case CLK_ABGR:                                                                                 \
        return v.wzyx;                                                                             \
    case CLK_INTENSITY:                                                                            \
        return v.xxxx;                                                                             \
    case CLK_LUMINANCE:                                                                            \
        return (V)(v.xxx, one);                                                                    \
    default:                                                                                       \
        return v;                                                                                  \
    }

// The colour outside: opaque black where no channel could say otherwise.
static uint border_alpha(uint order)
{
    switch (order) {
    case CLK_R:
    case CLK_RG:
    case CLK_RGB:
    case CLK_LUMINANCE:
        return 1;
    default:
        return 0;
    }
}

// A normalised coordinate becomes one in elements; repeating ones begin again, or turn round, at each integer.
static float unnormalised(float x, int size, uint s)
{
    if (ADDRESSING(s) == REPEATS)
        return (x - floor(x)) * (float)size;
    if (ADDRESSING(s) == MIRRORS)
        return fabs(x - 2.0f * rint(0.5f * x)) * (float)size;
    return IS_NORMALISED(s) ? x * (float)size : x;
}

// The element that is nearest to a number.
static int nearest(int i, int size)
{
    return clamp(i, 0, size - 1);
}

// The number of an element; one beyond either end is outside where the sampler clamps.
static int wrapped(int i, int size, uint s)
{
    if (ADDRESSING(s) == REPEATS) {
        i = i < 0 ? i + size : i;
        i = i >= size ? i - size : i;
    }
    return ADDRESSING(s) == CLAMPS ? clamp(i, -1, size) : nearest(i, size);
}

static int is_inside(int i, int size)
{
    return (uint)i < (uint)size;
}

static int layer_of(float a, int layers)
{
    return clamp(convert_int(rint(a)), 0, layers - 1);
}

// A descriptor begins with the address of the first element.
#define DATA(d) (*(constant source *)(d))

static source address(image d, int x, int y, int z)
{
    int size = (int)__image_element_size(d);
    if (__image_is_large(d))
        return DATA(d) + (long)z * (long)d[2] + (long)y * (long)d[1] + (long)x * size;
    return DATA(d) + (z * (int)d[2] + y * (int)d[1] + x * size);
}

// Clamps what is there of y and z, and says whether both lay inside.
static int clamped_rows(image d, int dims, int *y, int *z)
{
    int h = HEIGHT(d), e = DEPTH(d), inside = 1;
    if (dims > 1) {
        inside = is_inside(*y, h);
        *y = clamp(*y, 0, h - 1);
    }
    if (dims > 2) {
        inside &= is_inside(*z, e);
        *z = clamp(*z, 0, e - 1);
    }
    return inside;
}

#define READS(V, letters, one)                                                                     \
    static V swizzled_##letters(uint order, V v){ SWIZZLE(V, order, v, one) }                      \
                                                                                                   \
    static V element_##letters(image d, int x, int y, int z)                                       \
    {                                                                                              \
        uint order = __image_channel_order(d);                                                     \
        V v = __image_load_##letters(address(d, x, y, z), order, __image_channel_type(d));         \
        return swizzled_##letters(order, v);                                                       \
    }                                                                                              \
                                                                                                   \
    /* Coordinates as `wrapped` gives them; those of absent dimensions are 0. */                   \
    static V sample_##letters(image d, uint s, int dims, int x, int y, int z)                      \
    {                                                                                              \
        if (ADDRESSING(s) != CLAMPS)                                                               \
            return element_##letters(d, x, y, z);                                                  \
        int w = WIDTH(d), inside = is_inside(x, w) & clamped_rows(d, dims, &y, &z);                \
        x = clamp(x, 0, w - 1);                                                                    \
        V v = element_##letters(d, x, y, z);                                                       \
        V outside = (V)(0, 0, 0, border_alpha(__image_channel_order(d)));                          \
        return inside ? v : outside;                                                               \
    }                                                                                              \
                                                                                                   \
    V FN __read_image##letters##_1d(image d, int x)                                                \
    {                                                                                              \
        return element_##letters(d, nearest(x, WIDTH(d)), 0, 0);                                   \
    }                                                                                              \
    V FN __read_image##letters##_1d_array(image d, int x, int a)                                   \
    {                                                                                              \
        return element_##letters(d, nearest(x, WIDTH(d)), 0, nearest(a, LAYERS(d)));               \
    }                                                                                              \
    V FN __read_image##letters##_2d(image d, int x, int y)                                         \
    {                                                                                              \
        return element_##letters(d, nearest(x, WIDTH(d)), nearest(y, HEIGHT(d)), 0);               \
    }                                                                                              \
    V FN __read_image##letters##_2d_array(image d, int x, int y, int a)                            \
    {                                                                                              \
        return element_##letters(d, nearest(x, WIDTH(d)), nearest(y, HEIGHT(d)),                   \
                                 nearest(a, LAYERS(d)));                                           \
    }                                                                                              \
    V FN __read_image##letters##_3d(image d, int x, int y, int z)                                  \
    {                                                                                              \
        return element_##letters(d, nearest(x, WIDTH(d)), nearest(y, HEIGHT(d)),                   \
                                 nearest(z, DEPTH(d)));                                            \
    }                                                                                              \
                                                                                                   \
    V FN __read_image##letters##_1d(image d, uint s, int x)                                        \
    {                                                                                              \
        return sample_##letters(d, s, 1, wrapped(x, WIDTH(d), s), 0, 0);                           \
    }                                                                                              \
    V FN __read_image##letters##_1d_array(image d, uint s, int x, int a)                           \
    {                                                                                              \
        return sample_##letters(d, s, 1, wrapped(x, WIDTH(d), s), 0,                               \
                                clamp(a, 0, LAYERS(d) - 1));                                       \
    }                                                                                              \
    V FN __read_image##letters##_2d(image d, uint s, int x, int y)                                 \
    {                                                                                              \
        x = wrapped(x, WIDTH(d), s);                                                               \
        y = wrapped(y, HEIGHT(d), s);                                                              \
        return sample_##letters(d, s, 2, x, y, 0);                                                 \
    }                                                                                              \
    V FN __read_image##letters##_2d_array(image d, uint s, int x, int y, int a)                    \
    {                                                                                              \
        x = wrapped(x, WIDTH(d), s);                                                               \
        y = wrapped(y, HEIGHT(d), s);                                                              \
        return sample_##letters(d, s, 2, x, y, clamp(a, 0, LAYERS(d) - 1));                        \
    }                                                                                              \
    V FN __read_image##letters##_3d(image d, uint s, int x, int y, int z)                          \
    {                                                                                              \
        x = wrapped(x, WIDTH(d), s);                                                               \
        y = wrapped(y, HEIGHT(d), s);                                                              \
        z = wrapped(z, DEPTH(d), s);                                                               \
        return sample_##letters(d, s, 3, x, y, z);                                                 \
    }

READS(float4, f, 1.0f)
READS(int4, i, 1)
READS(uint4, ui, 1)

// The element below a coordinate in elements.
static int below(float x, int size, uint s)
{
    return wrapped(convert_int_sat_rtn(x), size, s);
}

#define NEAREST(V, letters)                                                                        \
    static V nearest_##letters(image d, uint s, int dims, float x, float y, float z, int layer)    \
    {                                                                                              \
        int i = below(unnormalised(x, WIDTH(d), s), WIDTH(d), s), j = 0, k = layer;                \
        if (dims > 1)                                                                              \
            j = below(unnormalised(y, HEIGHT(d), s), HEIGHT(d), s);                                \
        if (dims > 2)                                                                              \
            k = below(unnormalised(z, DEPTH(d), s), DEPTH(d), s);                                  \
        return sample_##letters(d, s, dims, i, j, k);                                              \
    }

NEAREST(float4, f)
NEAREST(int4, i)
NEAREST(uint4, ui)

// Two neighbours and the weight of the second.
#define NEIGHBOURS(x, size, i, j, a)                                                               \
    float a = unnormalised(x, size, s) - 0.5f;                                                     \
    int i, j;                                                                                      \
    {                                                                                              \
        float low = floor(a);                                                                      \
        a -= low;                                                                                  \
        int first = convert_int(low);                                                              \
        i = wrapped(first, size, s);                                                               \
        j = wrapped(first + 1, size, s);                                                           \
    }

#ifdef HAS_TEXTURES
#define MAD fma
#else
#define MAD mad
#endif

static float4 between(float4 first, float4 second, float weight)
{
    return MAD(second, weight, first * (1.0f - weight));
}

// Whether two neighbours lie side by side: no sampler that repeats joins the last with the first.
static int are_adjacent(image d, uint s)
{
    return !__image_is_column(d) && ADDRESSING(s) <= CLAMPS;
}

// Two neighbours of a row, by one load of two elements that lie inside.
static float8 two(image d, uint s, int dims, int x0, int x1, int y, int z)
{
    int w = WIDTH(d), inside = ADDRESSING(s) != CLAMPS || clamped_rows(d, dims, &y, &z);
    int first = clamp(x0, 0, w - 2);
    uint order = __image_channel_order(d);
    float8 v = __image_load_pair_f(address(d, first, y, z), order, __image_channel_type(d));
    float4 left = swizzled_f(order, x0 > first ? v.hi : v.lo);
    float4 right = swizzled_f(order, x1 > first ? v.hi : v.lo);
    if (ADDRESSING(s) == CLAMPS) {
        float4 outside = (float4)(0, 0, 0, border_alpha(order));
        left = inside & is_inside(x0, w) ? left : outside;
        right = inside & is_inside(x1, w) ? right : outside;
    }
    return (float8)(left, right);
}

static float4 row(image d, uint s, int dims, int x0, int x1, float a, int y, int z)
{
    if (are_adjacent(d, s)) {
        float8 v = two(d, s, dims, x0, x1, y, z);
        return between(v.lo, v.hi, a);
    }
    float4 left = sample_f(d, s, dims, x0, y, z), right = sample_f(d, s, dims, x1, y, z);
    return between(left, right, a);
}

static float4 linear(image d, uint s, int dims, float x, float y, float z, int layer)
{
    NEIGHBOURS(x, WIDTH(d), x0, x1, a)
    if (dims == 1)
        return row(d, s, dims, x0, x1, a, 0, layer);
    NEIGHBOURS(y, HEIGHT(d), y0, y1, b)
    if (dims == 2)
        return between(row(d, s, dims, x0, x1, a, y0, layer), row(d, s, dims, x0, x1, a, y1, layer), b);
    NEIGHBOURS(z, DEPTH(d), z0, z1, c)
    float4 near = between(row(d, s, dims, x0, x1, a, y0, z0), row(d, s, dims, x0, x1, a, y1, z0), b);
    float4 far = between(row(d, s, dims, x0, x1, a, y0, z1), row(d, s, dims, x0, x1, a, y1, z1), b);
    return between(near, far, c);
}

#ifdef HAS_TEXTURES
uint FN __image_has_texture(image d);
float4 FN __image_sample(ulong texture, float x, float y);

#define SLICE_ROWS(d) FIELD(d, 60)
#define TEXTURE(d) (d)[8]

// Whether both neighbours lie inside.
static int is_within(float x, int size)
{
    return (x >= 0.5f) & (x <= (float)size - 0.5f);
}

// The number of a slice, which `wrapped` gives for integers.
static float slice(float z, int size, uint s)
{
    float n = (float)size;
    if (ADDRESSING(s) == REPEATS) {
        z = z < 0.0f ? z + n : z;
        z = z >= n ? z - n : z;
    }
    return clamp(z, 0.0f, n - 1.0f);
}

static float4 linear_by_texture(image d, uint s, int dims, float x, float y, float z, int layer)
{
    ulong t = TEXTURE(d);
    int w = WIDTH(d), h = HEIGHT(d);
    float i = unnormalised(x, w, s), j = dims > 1 ? unnormalised(y, h, s) : 0.5f;
    int within = ADDRESSING(s) < CLAMPS || ADDRESSING(s) == MIRRORS;
    if (!within) {
        within = is_within(i, w) & (dims < 2 || is_within(j, h));
        if (dims > 2 && ADDRESSING(s) == CLAMPS)
            within &= is_within(unnormalised(z, DEPTH(d), s), DEPTH(d));
    }
    if (!within)
        return linear(d, s, dims, x, y, z, layer);
    uint order = __image_channel_order(d);
    float rows = (float)SLICE_ROWS(d);
    // In a texture of several slices, the next row may be another one's.
    j = clamp(j, 0.5f, (float)h - 0.5f);
    if (dims < 3)
        return swizzled_f(order, __image_sample(t, i, fma((float)layer, rows, j)));
    float c = unnormalised(z, DEPTH(d), s) - 0.5f, low = floor(c);
    float near = slice(low, DEPTH(d), s), far = slice(low + 1.0f, DEPTH(d), s);
    float4 first = __image_sample(t, i, fma(near, rows, j)), second = __image_sample(t, i, fma(far, rows, j));
    return swizzled_f(order, between(first, second, c - low));
}
#endif

static float4 filtered_f(image d, uint s, int dims, float x, float y, float z, int layer)
{
#ifdef HAS_TEXTURES
    if (IS_LINEAR(s) && __image_has_texture(d))
        return linear_by_texture(d, s, dims, x, y, z, layer);
#endif
    if (IS_LINEAR(s))
        return linear(d, s, dims, x, y, z, layer);
    return nearest_f(d, s, dims, x, y, z, layer);
}

// Integers are not interpolated.
#define filtered_i nearest_i
#define filtered_ui nearest_ui

#define SAMPLES(V, letters)                                                                        \
    V FN __read_image##letters##_1d(image d, uint s, float x)                                      \
    {                                                                                              \
        return filtered_##letters(d, s, 1, x, 0.0f, 0.0f, 0);                                      \
    }                                                                                              \
    V FN __read_image##letters##_1d_array(image d, uint s, float x, float a)                       \
    {                                                                                              \
        return filtered_##letters(d, s, 1, x, 0.0f, 0.0f, layer_of(a, LAYERS(d)));                 \
    }                                                                                              \
    V FN __read_image##letters##_2d(image d, uint s, float x, float y)                             \
    {                                                                                              \
        return filtered_##letters(d, s, 2, x, y, 0.0f, 0);                                         \
    }                                                                                              \
    V FN __read_image##letters##_2d_array(image d, uint s, float x, float y, float a)              \
    {                                                                                              \
        return filtered_##letters(d, s, 2, x, y, 0.0f, layer_of(a, LAYERS(d)));                    \
    }                                                                                              \
    V FN __read_image##letters##_3d(image d, uint s, float x, float y, float z)                    \
    {                                                                                              \
        return filtered_##letters(d, s, 3, x, y, z, 0);                                            \
    }

SAMPLES(float4, f)
SAMPLES(int4, i)
SAMPLES(uint4, ui)
