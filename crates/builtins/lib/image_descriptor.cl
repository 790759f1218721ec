// The format of an image, from its descriptor (`ir::abi::image`). Where a launch's formats are known, the compiler puts
// constants in place of these calls; so nothing may be inlined before it has looked.

#define FN __attribute__((overloadable, noinline))

uint FN __image_channel_order(constant ulong *image)
{
    return (uint)image[5];
}

uint FN __image_channel_type(constant ulong *image)
{
    return (uint)(image[5] >> 32);
}

uint FN __image_element_size(constant ulong *image)
{
    return (uint)image[6];
}

// Whether offsets of elements take more than 31 bits; where it is not known, they may.
uint FN __image_is_large(constant ulong *image)
{
    return 1;
}

// Whether there is a texture of its rows; where it is not known, none is used.
uint FN __image_has_texture(constant ulong *image)
{
    return 0;
}

// What a texture unit gives. The compiler puts the instruction in place of the call, unless nothing has a texture.
float4 FN __image_sample(ulong texture, float x, float y)
{
    return 0;
}

// Whether its rows have one element; where it is not known, they may.
uint FN __image_is_column(constant ulong *image)
{
    return 1;
}
