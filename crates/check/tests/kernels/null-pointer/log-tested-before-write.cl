// check: --arg log=32 --arg in=64:index --global 64 --local 16
// The pointer is null for half of the work-items, which do not write.
kernel void record_squares(global int *log, global const int *in) {
    int i = get_global_id(0);
    global int *place = 0;
    if (i < 32)
        place = log + i;
    int v = in[i] * in[i];
    if (place)
        *place = v;
}
