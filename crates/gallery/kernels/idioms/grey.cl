// Brightness of pixels of four bytes. FLOATS computes in floats, else in whole numbers.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void grey(__global const uchar4 *in, __global uchar *out, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;

    const uchar4 p = in[i];
#ifdef FLOATS
    out[i] = convert_uchar_sat_rte(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
#else
    out[i] = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
#endif
}
