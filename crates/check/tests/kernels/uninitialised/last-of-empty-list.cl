// check: --arg out=16 --arg counts=16:index --arg in=64:index --global 16 --local 4
// The list of work-item 0 has no elements, and so no last one.
kernel void last_elements(global int *out, global const int *counts, global const int *in) {
    int i = get_global_id(0);
    int last;
    for (int k = 0; k < counts[i]; k++)
        last = in[i + k];
    out[i] = last; //~ uninitialised
}
