// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The place has a value whenever found is true.
kernel void places(global int *out, global const int *in) {
    int i = get_global_id(0);
    bool found = false;
    int place;
    for (int k = 0; k < 16 && !found; k++)
        if (in[k] == 2 * i) {
            found = true;
            place = k;
        }
    if (found)
        out[i] = in[place];
    else
        out[i] = -1;
}
