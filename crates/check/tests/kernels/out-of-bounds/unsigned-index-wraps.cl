// check: --arg out=48 --arg in=48:index --global 48 --local 16
// The index before 0 is 4294967295 as a uint: far behind the end.
kernel void differences(global int *out, global const int *in) {
    uint i = get_global_id(0);
    uint previous = i - 1;
    out[i] = in[i] - in[previous]; //~ out-of-bounds
}
