// check: --arg in=64:index --arg steps=64 --global 64 --local 16 --time-limit 1
// It is not obvious that this loop ends, but it does for all these numbers: after 112 steps at most.
kernel void collatz(global const uint *in, global uint *steps)
{
    uint x = in[get_global_id(0)] + 1, n = 0;
    while (x != 1) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        n++;
    }
    steps[get_global_id(0)] = n;
}
