// write_imagef, write_imagei, write_imageui: in come the image's descriptor (`ir::abi::image`), the coordinates one by
// one, and the colour. Coordinates outside of the image are undefined (OpenCL C 6.15.15.5). On GPUs nothing is written
// then, and programs round their ranges up to whole work-groups on the strength of it; so nothing is written here.

#define FN __attribute__((overloadable))

typedef constant ulong *image;
typedef global uchar *target;

uint FN __image_channel_order(image d);
uint FN __image_channel_type(image d);
uint FN __image_element_size(image d);
uint FN __image_is_large(image d);
void FN __image_store_f(target p, uint order, uint type, float4 v);
void FN __image_store_i(target p, uint order, uint type, int4 v);
void FN __image_store_ui(target p, uint order, uint type, uint4 v);

// Red, green, blue, alpha to channels in the order of memory.
#define CHANNELS(order, v)                                                                         \
    switch (order) {                                                                               \
    case CLK_A:                                                                                    \
        return v.wwww;                                                                             \
    case CLK_RA:                                                                                   \
        return v.xwww;                                                                             \
    case CLK_BGRA:                                                                                 \
    case CLK_sBGRA:                                                                                \
        return v.zyxw;                                                                             \
    case CLK_ARGB:                                                                                 \
        return v.wxyz;                                                                             \
    case CLK_ABGR:                                                                                 \
        return v.wzyx;                                                                             \
    default:                                                                                       \
        return v;                                                                                  \
    }

#define FIELD(d, offset) (((constant int *)(d))[(offset) / 4])
#define WIDTH(d) FIELD(d, 24)
#define HEIGHT(d) FIELD(d, 28)
#define DEPTH(d) FIELD(d, 32)
#define LAYERS(d) FIELD(d, 36)

static int is_inside(int i, int size)
{
    return (uint)i < (uint)size;
}

// A descriptor begins with the address of the first element.
#define DATA(d) (*(constant target *)(d))

static target address(image d, int x, int y, int z)
{
    int size = (int)__image_element_size(d);
    if (__image_is_large(d))
        return DATA(d) + (long)z * (long)d[2] + (long)y * (long)d[1] + (long)x * size;
    return DATA(d) + (z * (int)d[2] + y * (int)d[1] + x * size);
}

#define WRITES(V, letters)                                                                         \
    static V channels_##letters(uint order, V v){ CHANNELS(order, v) }                             \
                                                                                                   \
    static void element_##letters(image d, int x, int y, int z, V v)                               \
    {                                                                                              \
        uint order = __image_channel_order(d);                                                     \
        v = channels_##letters(order, v);                                                          \
        __image_store_##letters(address(d, x, y, z), order, __image_channel_type(d), v);           \
    }                                                                                              \
                                                                                                   \
    void FN __write_image##letters##_1d(image d, int x, V v)                                       \
    {                                                                                              \
        if (is_inside(x, WIDTH(d)))                                                                \
            element_##letters(d, x, 0, 0, v);                                                      \
    }                                                                                              \
    void FN __write_image##letters##_1d_array(image d, int x, int a, V v)                          \
    {                                                                                              \
        if (is_inside(a, LAYERS(d)) && is_inside(x, WIDTH(d)))                                     \
            element_##letters(d, x, 0, a, v);                                                      \
    }                                                                                              \
    void FN __write_image##letters##_2d(image d, int x, int y, V v)                                \
    {                                                                                              \
        if (is_inside(y, HEIGHT(d)) && is_inside(x, WIDTH(d)))                                     \
            element_##letters(d, x, y, 0, v);                                                      \
    }                                                                                              \
    void FN __write_image##letters##_2d_array(image d, int x, int y, int a, V v)                   \
    {                                                                                              \
        if (is_inside(a, LAYERS(d)) && is_inside(y, HEIGHT(d)) && is_inside(x, WIDTH(d)))          \
            element_##letters(d, x, y, a, v);                                                      \
    }                                                                                              \
    void FN __write_image##letters##_3d(image d, int x, int y, int z, V v)                         \
    {                                                                                              \
        if (is_inside(z, DEPTH(d)) && is_inside(y, HEIGHT(d)) && is_inside(x, WIDTH(d)))           \
            element_##letters(d, x, y, z, v);                                                      \
    }

WRITES(float4, f)
WRITES(int4, i)
WRITES(uint4, ui)
