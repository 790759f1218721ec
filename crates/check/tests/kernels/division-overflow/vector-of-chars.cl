// check: --arg out=16 --arg in=64:-128 --arg divisor=-1 --global 16 --local 8
// The elements of a vector are not promoted to int: -128 / -1 does not fit into a char.
kernel void quotients(global char4 *out, global const char *in, char divisor) {
    size_t i = get_global_id(0);
    char4 v = vload4(i, in);
    out[i] = v / (char4)(divisor); //~ division-overflow
}
