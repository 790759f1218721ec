// One element of a block of an image (cl_intel_subgroups): in come the image's descriptor (`ir::abi::image`), the
// position in bytes and the row. What is read outside is taken from the edge; nothing is written there.

#define FN __attribute__((overloadable))

typedef constant ulong *image;
typedef global uchar *target;

uint FN __image_element_size(image d);

// A descriptor begins with the address of the first element.
#define DATA(d) (*(constant target *)(d))
#define FIELD(d, offset) (((constant int *)(d))[(offset) / 4])

static int row_bytes(image d)
{
    return FIELD(d, 24) * (int)__image_element_size(d);
}

static target address(image d, int x, int y)
{
    return DATA(d) + (long)y * (long)d[1] + x;
}

#define BLOCKS(T, code)                                                                            \
    T FN __image_block_read_##code(image d, int x, int y)                                          \
    {                                                                                              \
        x = clamp(x, 0, max(row_bytes(d) - (int)sizeof(T), 0));                                    \
        y = clamp(y, 0, FIELD(d, 28) - 1);                                                         \
        return *(global T *)address(d, x, y);                                                      \
    }                                                                                              \
    void FN __image_block_write_##code(image d, int x, int y, T v)                                 \
    {                                                                                              \
        if (x >= 0 && x <= row_bytes(d) - (int)sizeof(T) && (uint)y < (uint)FIELD(d, 28))          \
            *(global T *)address(d, x, y) = v;                                                     \
    }

BLOCKS(uchar, u8)
BLOCKS(ushort, u16)
BLOCKS(uint, u32)
BLOCKS(ulong, u64)
