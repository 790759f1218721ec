// check: --arg in=16:index --arg out=1 --arg n=16 --global 1 --local 1 --time-limit 1
// The countdown waits for a negative number, but the counter is unsigned.
kernel void checksum(global const int *in, global int *out, uint n)
{
    int sum = 0;
    for (uint i = n - 1; i >= 0; i--) //~ endless
        sum ^= in[i % n];
    out[0] = sum;
}
