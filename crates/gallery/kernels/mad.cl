// A copy with FLOPS floating-point operations on the way: how many are free while memory is what takes the time?

__kernel void mad_ocl(__global const float *in, __global float *out, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    float x = in[i];
    // A multiplication and an addition each.
    for (int k = 0; k < FLOPS / 2; k++)
        x = x * 0.999f + 0.125f;
#if FLOPS % 2
    x += 0.125f;
#endif
    out[i] = x;
}

// As many operations as the machine can do: sixteen chains that do not wait for each other, so that every unit has
// work.
__kernel void mad_peak(__global const float *in, __global float *out, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float x = in[i];
    float16 v = x + (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int k = 0; k < FLOPS / 32; k++)
        v = mad(v, 0.999f, 0.125f);
    const float8 eight = v.lo + v.hi;
    const float4 four = eight.lo + eight.hi;
    out[i] = four.x + four.y + four.z + four.w;
}
