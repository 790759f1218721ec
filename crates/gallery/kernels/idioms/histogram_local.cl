// 256 bins of bytes: each group counts in local memory, in BANKS copies of each bin, along a grid-stride loop. READ4 reads
// sixteen bytes at a time instead of four.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif
#ifndef BANKS
#define BANKS 1
#endif

#define BINS 256

void count_word(__local uint *bins, uint word, INDEX bank)
{
    atomic_inc(&bins[(word & 0xff) * BANKS + bank]);
    atomic_inc(&bins[((word >> 8) & 0xff) * BANKS + bank]);
    atomic_inc(&bins[((word >> 16) & 0xff) * BANKS + bank]);
    atomic_inc(&bins[(word >> 24) * BANKS + bank]);
}

#ifdef READ4
__kernel void histogram_local(__global const uint4 *data, const COUNT n, __global uint *histogram)
#else
__kernel void histogram_local(__global const uint *data, const COUNT n, __global uint *histogram)
#endif
{
    __local uint bins[BINS * BANKS];
    const INDEX lid = get_local_id(0);
    const INDEX bank = lid % BANKS;

    for (INDEX i = lid; i < BINS * BANKS; i += get_local_size(0))
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0)) {
#ifdef READ4
        uint4 words = data[i];
        count_word(bins, words.x, bank);
        count_word(bins, words.y, bank);
        count_word(bins, words.z, bank);
        count_word(bins, words.w, bank);
#else
        count_word(bins, data[i], bank);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (INDEX b = lid; b < BINS; b += get_local_size(0)) {
        uint sum = 0;
        for (INDEX k = 0; k < BANKS; k++)
            sum += bins[b * BANKS + k];
        atomic_add(&histogram[b], sum);
    }
}
