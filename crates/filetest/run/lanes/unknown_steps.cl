// Loops whose step is known at run time only, several iterations of which may become one: steps of zero, and about as
// large as cannot wrap, counters that do wrap on their way, and bounds that the last iteration meets or misses by one. A
// row is where a loop starts, its step, its bound, and whether the numbers are unsigned (1), signed (2) or both.
// run: global=25 local=8
// run: global=25 local=3
// arg: buffer ulong 200 = zero
// arg: buffer uint 16 = random 3
// arg: buffer uint 100 = 0 1 37 3 0 3 37 3 5 7 1000 3 0 64 16 3 100 1 50 3 5 0 5 3 3 2 19 3 3 2 18 3 0 5 35 3 0 5 36 3 0 5 34 3 0 1342177280 3221225472 3 4294967280 3 4294967294 3 3758096384 402653184 4143972352 1 16 2415919104 2684354560 1 536870912 939524096 4160749568 1 2684354560 402653184 1879048192 3 134217728 1342177280 2013265920 3 3 4294967295 10 1 4294967280 9 64 2 4294967196 7 4294967295 2 1073741823 1073741823 4294967292 1 1 536870911 2147483645 3 1 536870910 2147483641 3 2147483648 268435456 2147483664 2

kernel void unknown_steps(global ulong *out, global const uint *data, global const uint *rows)
{
    const size_t g = get_global_id(0);
    const uint start = rows[4 * g], step = rows[4 * g + 1], bound = rows[4 * g + 2], mask = rows[4 * g + 3];
    ulong sum = g;

    if (mask & 1) {
        for (uint i = start; i < bound; i += step)
            sum = sum * 5 + data[i & 15] + i;
        out[8 * g] = sum;
        for (uint i = start; i <= bound - 1; i += step)
            sum = sum * 5 + data[i & 15] + i;
        out[8 * g + 1] = sum;
        const ulong wide_step = (ulong)step << 32, wide_bound = (ulong)bound << 32;
        for (ulong i = (ulong)start << 32; i < wide_bound; i += wide_step)
            sum = sum * 5 + data[(i >> 32) & 15] + i;
        out[8 * g + 2] = sum;
        for (uint i = start; i < bound; i += step) {
            const uint x = data[i & 15];
            sum = x & 1 ? sum * 3 + x : sum ^ i;
            out[8 * g + 3] = sum;
        }
    }
    if (mask & 2) {
        for (int i = (int)start; i < (int)bound; i = (int)((uint)i + step))
            sum = sum * 5 + data[i & 15] + i;
        out[8 * g + 4] = sum;
        for (int i = (int)start; i <= (int)(bound - 1); i = (int)(step + (uint)i))
            sum = sum * 5 + data[i & 15] + i;
        out[8 * g + 5] = sum;
        const ulong wide_step = (ulong)step << 32;
        for (long i = (long)((ulong)start << 32); i < (long)((ulong)bound << 32); i = (long)((ulong)i + wide_step))
            sum = sum * 5 + data[(i >> 32) & 15] + i;
        out[8 * g + 6] = sum;
    }
}
