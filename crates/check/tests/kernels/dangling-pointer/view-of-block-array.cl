// check: --arg out=30 --arg in=32:index --global 30 --local 10
// The view keeps a pointer to the window, an array of the block that has just ended.
struct view {
    const int *data;
    int count;
};
kernel void window_sums(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    struct view v;
    {
        int window[3] = {in[i], in[i + 1], in[i + 2]};
        v.data = window;
        v.count = 3;
    }
    int sum = 0;
    for (int k = 0; k < v.count; k++)
        sum += v.data[k]; //~ dangling-pointer
    out[i] = sum;
}
