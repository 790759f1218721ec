// Vectors of three floats side by side, each made one long. VLOAD reads them by vload3.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void float3_unit(__global const float *in, __global float *out, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;
#ifdef VLOAD
    const float3 v = vload3(i, in);
    vstore3(v * rsqrt(dot(v, v)), i, out);
#else
    const float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
    const float scale = rsqrt(x * x + y * y + z * z);
    out[3 * i] = x * scale;
    out[3 * i + 1] = y * scale;
    out[3 * i + 2] = z * scale;
#endif
}
