// How often each of 256 values occurs among 8-bit pixels, read sixteen at a time.
//
// A group counts in local memory, in BANKS copies of each bin side by side, so that work-items that run together and
// meet the same value mostly touch different words. STAGE says how far to go, to see what each step costs: 1 only read,
// 2 count in local memory, 3 add up the copies, 4 add up the groups (histogram_merge).

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

// A group of one work-item: nobody else counts in its tables, so that no operation has to be atomic. Four tables,
// because equal values side by side would wait for each other.
__kernel void histogram_alone(__global const uint4 *data, unsigned bytes, __global unsigned *partial)
{
    __local unsigned bins[4][BINS];
    __global const uchar *tail = (__global const uchar *)data;
    const unsigned g = get_global_id(0), all = get_global_size(0);
    const unsigned n = bytes / 16;
    const unsigned share = n / all + (n % all != 0);
    const unsigned begin = min(g * share, n), end = min(begin + share, n);

    for (unsigned i = 0; i < BINS; i++)
        bins[0][i] = bins[1][i] = bins[2][i] = bins[3][i] = 0;
    for (unsigned i = begin; i < end; i++) {
        const uchar16 v = as_uchar16(data[i]);
        bins[0][v.s0]++, bins[1][v.s1]++, bins[2][v.s2]++, bins[3][v.s3]++;
        bins[0][v.s4]++, bins[1][v.s5]++, bins[2][v.s6]++, bins[3][v.s7]++;
        bins[0][v.s8]++, bins[1][v.s9]++, bins[2][v.sa]++, bins[3][v.sb]++;
        bins[0][v.sc]++, bins[1][v.sd]++, bins[2][v.se]++, bins[3][v.sf]++;
    }
    for (unsigned i = n * 16 + g; i < bytes; i += all)
        bins[0][tail[i]]++;
    for (unsigned i = 0; i < BINS; i++)
        partial[g * BINS + i] = bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i];
}
