// check: --arg out=8 --arg from=2147483640 --global 8 --local 8 --enable signed-overflow
// The sum of the last work-item is exactly the greatest int, and its negative is above the least one.
kernel void count_up(global int *out, int from) {
    int i = get_global_id(0);
    int v = from + i;
    out[i] = -v - 1;
}
