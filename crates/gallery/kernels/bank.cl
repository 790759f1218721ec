// Local memory of a GPU has banks, 16 or 32 of them: work-items that run together and read different words of one bank
// wait for each other. ROUNDS reads a work-item from WORDS words, a power of two.

#define FILL                                                                    \
    __local unsigned words[WORDS];                                              \
    const unsigned l = get_local_id(0);                                         \
    for (unsigned i_ = l; i_ < WORDS; i_ += get_local_size(0))                  \
        words[i_] = in[i_];                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
    unsigned sum = 0

// Neighbours read STRIDE words apart.
__kernel void bank_strided(__global const unsigned *in, unsigned n, __global unsigned *out)
{
    FILL;
    for (unsigned r = 0; r < ROUNDS; r++)
        sum = sum * 3 + words[l * STRIDE + r * 17 & WORDS - 1];
    if (get_global_id(0) < n)
        out[get_global_id(0)] = sum;
}

// The words of sixteen neighbours, out of order: each bank is still asked once.
__kernel void bank_permuted(__global const unsigned *in, unsigned n, __global unsigned *out)
{
    FILL;
    const unsigned p = (l & ~15u) | (l * 5 + 3 & 15);
    for (unsigned r = 0; r < ROUNDS; r++)
        sum = sum * 3 + words[p + r * 17 & WORDS - 1];
    if (get_global_id(0) < n)
        out[get_global_id(0)] = sum;
}

// All read one word, which a GPU broadcasts.
__kernel void bank_broadcast(__global const unsigned *in, unsigned n, __global unsigned *out)
{
    FILL;
    for (unsigned r = 0; r < ROUNDS; r++)
        sum = sum * 3 + words[r * 17 & WORDS - 1];
    if (get_global_id(0) < n)
        out[get_global_id(0)] = sum + l;
}
