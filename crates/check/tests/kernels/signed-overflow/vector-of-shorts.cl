// check: --arg out=8 --arg in=32:20000 --global 8 --local 8 --enable signed-overflow
// The elements of a vector are not promoted: 20000 + 20000 does not fit into a short.
kernel void doubled(global short4 *out, global const short *in) {
    size_t i = get_global_id(0);
    short4 v = vload4(i, in);
    out[i] = v + v; //~ signed-overflow
}
