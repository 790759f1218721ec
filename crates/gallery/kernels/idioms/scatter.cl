// Writes through an array of indices, which are a permutation.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void scatter(__global const float *in, __global const COUNT *index, __global float *out, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i < n)
        out[index[i]] = in[i];
}
