// check: --arg out=8 --arg a=32:100 --arg b=32:index --global 8 --local 4
// The first vector of divisors has a zero in its first lane.
kernel void quotients(global int4 *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    int4 q = vload4(i, a) / vload4(i, b); //~ division-by-zero
    out[i] = q;
}
