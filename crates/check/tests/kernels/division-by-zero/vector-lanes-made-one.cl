// check: --arg out=8 --arg a=32:100 --arg b=32:index --global 8 --local 4
// Lanes that are zero are replaced by one before the division of all lanes.
kernel void quotients(global int4 *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    int4 d = vload4(i, b);
    d = select(d, (int4)(1), d == 0);
    out[i] = vload4(i, a) / d;
}
