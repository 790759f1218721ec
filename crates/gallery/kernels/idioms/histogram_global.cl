// 256 bins of bytes, counted in global memory.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void histogram_global(__global const uchar *data, __global uint *bins, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i < n)
        atomic_inc(&bins[data[i]]);
}
