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
