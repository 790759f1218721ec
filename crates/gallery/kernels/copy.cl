// Each work-item reads and writes one float: the reference bandwidth.

__kernel void copy_ocl(__global const float *in, __global float *out, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i < n)
        out[i] = in[i];
}

// Four floats a work-item.
__kernel void copy_float4(__global const float *in, __global float *out, unsigned n)
{
    const unsigned i = get_global_id(0);

    if (i < n / 4)
        vstore4(vload4(i, in), i, out);
    else
        for (unsigned j = i * 4; j < min(n, i * 4 + 4); j++)
            out[j] = in[j];
}
