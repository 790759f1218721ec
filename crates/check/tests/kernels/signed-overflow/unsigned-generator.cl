// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable signed-overflow
// Unsigned numbers wrap; the result is brought into the range of int before the conversion.
kernel void random_numbers(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    uint state = in[i] + 10;
    for (int k = 0; k < 4; k++)
        state = state * 1664525u + 1013904223u;
    out[i] = (int)(state >> 1);
}
