// check: --arg seed=12345 --arg period=1 --global 1 --local 1 --time-limit 1
// The loop ends when the generator is back at its seed: after 65536 steps.
kernel void find_period(uint seed, global uint *period)
{
    uint x = seed, n = 0;
    do {
        x = (x * 25173 + 13849) & 0xffff;
        n++;
    } while (x != seed);
    period[0] = n;
}
