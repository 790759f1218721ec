// A vector times a number, one or two elements a work-item. With two, work-items side by side should still touch
// elements side by side: `halves` does, `neighbours` does not.

__kernel void scalvec_one(__global const float *in, __global float *out, float k, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i < n)
        out[i] = k * in[i];
}

__kernel void scalvec_neighbours(__global const float *in, __global float *out, float k, unsigned n)
{
    const unsigned i = 2 * get_global_id(0);
    if (i < n)
        out[i] = k * in[i];
    if (i + 1 < n)
        out[i + 1] = k * in[i + 1];
}

__kernel void scalvec_halves(__global const float *in, __global float *out, float k, unsigned n)
{
    const unsigned i = get_global_id(0);
    const unsigned half_n = (n + 1) / 2;
    if (i < half_n)
        out[i] = k * in[i];
    if (i < half_n && i + half_n < n)
        out[i + half_n] = k * in[i + half_n];
}
