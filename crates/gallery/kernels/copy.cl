// One float read and one written a work-item: the bandwidth that everything else is held against.

__kernel void copy_ocl(__global const float *in, __global float *out, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i < n)
        out[i] = in[i];
}
