// check: --arg in=64:index --arg out=8 --global 8 --local 4 --time-limit 1
// The unsigned counters wrap around, but only after the last test, or on purpose.
kernel void backwards(global const uint *in, global uint *out)
{
    uint sum = 0, i = 64;
    while (i-- > 0)
        sum = sum * 3 + in[i];
    for (uchar c = 200; c != 100; c++)
        sum ^= c;
    out[get_global_id(0)] = sum;
}
