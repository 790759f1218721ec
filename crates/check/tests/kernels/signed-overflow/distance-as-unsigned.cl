// check: --arg out=16 --arg a=16:-2000000000 --arg b=16:2000000000 --global 16 --local 8 --enable signed-overflow
// The distance of two ints fits into a uint; both abs_diff and unsigned subtraction give it.
kernel void distances(global uint *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    out[i] = abs_diff(a[i], b[i]) ^ ((uint)b[i] - (uint)a[i]);
}
