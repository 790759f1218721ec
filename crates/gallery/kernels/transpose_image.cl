// Transposition from an image to an image: where pixels lie in memory is the device's affair.

__constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

__kernel void transpose_ocl_image(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x < HEIGHT && y < WIDTH)
        write_imagef(out, (int2)(x, y), read_imagef(in, plain, (int2)(y, x)));
}
