// check: --arg out=64 --arg in=64:index --global 16 --local 16
// All vectors are stored one element later than they should be; the last one ends behind the buffer.
kernel void shift_right(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int4 v = vload4(i, in);
    vstore4(v, i, out + 1); //~ out-of-bounds
    if (i == 0)
        out[0] = 0;
}
