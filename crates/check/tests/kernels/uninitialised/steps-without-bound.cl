// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The number of steps is set for even work-items only, and ends the loop for all.
kernel void steps(global int *out, global const int *in) {
    int i = get_global_id(0);
    uchar count;
    if (i % 2 == 0)
        count = in[i] & 3;
    for (int k = 0; k < 4 && k < count; k++) //~ uninitialised
        out[i] = k;
}
