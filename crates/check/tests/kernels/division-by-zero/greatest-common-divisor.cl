// check: --arg out=32 --arg a=32:index --arg b=32:12 --global 32 --local 8
// The remainder becomes zero, and ends the loop before it is a divisor.
kernel void common_divisors(global uint *out, global const uint *a, global const uint *b) {
    size_t i = get_global_id(0);
    uint x = b[i], y = a[i];
    while (y != 0) {
        uint r = x % y;
        x = y;
        y = r;
    }
    out[i] = x;
}
