// A copy whose reads (or, with WRITES, whose writes) lie a stride apart that is known at the launch only.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void strided(__global const float *in, __global float *out, const COUNT n, const COUNT stride)
{
    INDEX i = get_global_id(0);

    if (i >= n)
        return;
#ifdef WRITES
    out[i * stride] = in[i];
#else
    out[i] = in[i * stride];
#endif
}
