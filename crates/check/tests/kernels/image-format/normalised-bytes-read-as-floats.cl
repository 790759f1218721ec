// check: --arg out=8x8:rgba,snorm_int8 --arg in=8x8:rgba,unorm_int8:random --global 8x8 --local 4x4
// Normalised integers, signed and unsigned, are read and written as floats.
kernel void centred(write_only image2d_t out, read_only image2d_t in) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 c = read_imagef(in, p);
    write_imagef(out, p, 2.0f * c - 1.0f);
}
