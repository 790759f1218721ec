// check: --arg out=64 --arg in=65:index --global 64 --local 32
// Half of the indices are negative; they count from the buffer's middle.
kernel void centred(global int *out, global const int *in) {
    global const int *middle = in + 32;
    int k = (int)get_global_id(0) - 32;
    out[get_global_id(0)] = middle[-k] + middle[k];
}
