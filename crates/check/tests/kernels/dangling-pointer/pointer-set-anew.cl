// check: --arg out=30 --arg in=32:index --global 30 --local 10
// The pointer into the ended block is overwritten before its next use.
kernel void window_sums(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    const int *data;
    int sum = 0;
    {
        int window[3] = {in[i], in[i + 1], in[i + 2]};
        data = window;
        sum += data[0] + data[2];
    }
    int rest[2] = {sum, in[i]};
    data = rest;
    out[i] = data[0] - data[1];
}
