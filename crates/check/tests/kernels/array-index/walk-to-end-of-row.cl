// check: --arg out=8 --arg in=64:index --global 8 --local 8
// The pointer ends one behind the row, which is the next row's first element, and is not read there.
kernel void row_sums(global int *out, global const int *in) {
    local int t[8][8];
    int r = get_local_id(0);
    for (int c = 0; c < 8; c++)
        t[c][r] = in[8 * c + r];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (local const int *p = t[r]; p != t[r] + 8; p++)
        sum += *p;
    out[r] = sum;
}
