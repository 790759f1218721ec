// How often each of 256 values occurs among 8-bit pixels, read sixteen at a time.
//
// A group counts in local memory, in BANKS copies of each bin side by side, so that work-items that run together and meet the same
// value mostly touch different words. STAGE says how far to go, to see what each step costs:
// 1 only read, 2 count in local memory, 3 add up the copies, 4 add up the groups (histogram_merge).

#define BINS 256

void count_pixel(__local unsigned *bins, unsigned value, unsigned bank)
{
    atomic_inc(&bins[value * BANKS + bank]);
}

void count_word(__local unsigned *bins, unsigned word, unsigned bank)
{
    count_pixel(bins, word & 255, bank);
    count_pixel(bins, word >> 8 & 255, bank);
    count_pixel(bins, word >> 16 & 255, bank);
    count_pixel(bins, word >> 24, bank);
}

__kernel void histogram_count(__global const uint4 *data, unsigned bytes, __global unsigned *partial)
{
    __local unsigned bins[BINS * BANKS];
    __global const uchar *tail = (__global const uchar *)data;
    const unsigned l = get_local_id(0), size = get_local_size(0);
    const unsigned g = get_global_id(0), all = get_global_size(0);
    const unsigned bank = l % BANKS;
    const unsigned n = bytes / 16;

    for (unsigned i = l; i < BINS * BANKS; i += size)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

#if SERIAL
    // Each work-item reads a stretch of its own.
    const unsigned share = n / all + (n % all != 0);
    const unsigned begin = min(g * share, n), end = min(begin + share, n), step = 1;
#else
    // Work-items side by side read side by side.
    const unsigned begin = g, end = n, step = all;
#endif

#if STAGE == 1
    uint4 sum = (uint4)(0);
    for (unsigned i = begin; i < end; i += step)
        sum += data[i];
    unsigned total = sum.x + sum.y + sum.z + sum.w;
    for (unsigned i = n * 16 + g; i < bytes; i += all)
        total += tail[i];
    partial[g] = total;
#else
    for (unsigned i = begin; i < end; i += step) {
        const uint4 v = data[i];
        count_word(bins, v.x, bank);
        count_word(bins, v.y, bank);
        count_word(bins, v.z, bank);
        count_word(bins, v.w, bank);
    }
    for (unsigned i = n * 16 + g; i < bytes; i += all)
        count_pixel(bins, tail[i], bank);
    barrier(CLK_LOCAL_MEM_FENCE);

#if STAGE == 2
    // Two sums over all the counters are enough to check that they are right.
    unsigned count = 0, weighted = 0;
    for (unsigned i = l; i < BINS * BANKS; i += size) {
        count += bins[i];
        weighted += bins[i] * (i / BANKS);
    }
    partial[2 * g] = count;
    partial[2 * g + 1] = weighted;
#else
    for (unsigned b = l; b < BINS; b += size) {
        unsigned sum = 0;
        for (unsigned k = 0; k < BANKS; k++)
            sum += bins[b * BANKS + k];
        partial[get_group_id(0) * BINS + b] = sum;
    }
#endif
#endif
}

__kernel void histogram_merge(__global const unsigned *partial, unsigned groups, __global unsigned *histogram)
{
    const unsigned b = get_global_id(0);
    unsigned sum = 0;

    for (unsigned i = 0; i < groups; i++)
        sum += partial[i * BINS + b];
    histogram[b] = sum;
}
