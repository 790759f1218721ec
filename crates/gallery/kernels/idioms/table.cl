// Sixteen numbers in a private table, looked up by the data: the bits that are set in each word. CONSTANT has the table in
// constant memory.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

#define TABLE {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}

#ifdef CONSTANT
__constant uint bits[16] = TABLE;
#endif

__kernel void table(__global const uint *in, __global uint *out, const COUNT n)
{
#ifndef CONSTANT
    const uint bits[16] = TABLE;
#endif
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;

    uint word = in[i];
    uint count = 0;
    while (word != 0) {
        count += bits[word & 15];
        word >>= 4;
    }
    out[i] = count;
}
