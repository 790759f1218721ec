// check: --arg colours=48:index --arg pixels=32:index --arg out=96 --global 32 --local 16
// Triples are stored side by side, 12 bytes each, and do not overlap. After the barrier the palette is only read.
kernel void colour(global const float *colours, global const uchar *pixels, global float *out)
{
    local float palette[48];
    size_t l = get_local_id(0), g = get_global_id(0);
    vstore3(vload3(l, colours) / 255.0f, l, palette);
    barrier(CLK_LOCAL_MEM_FENCE);
    float3 c = vload3(pixels[g] & 15, palette) + vload3(0, palette);
    vstore3(c, g, out);
}
