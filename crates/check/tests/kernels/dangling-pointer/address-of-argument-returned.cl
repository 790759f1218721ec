// check: --arg out=32 --arg a=32:index --arg b=32:16 --global 32 --local 8
// The helper returns one of the two pointers that it got; both point to variables of the kernel.
const int *greater_of(const int *a, const int *b) {
    return *a > *b ? a : b;
}
kernel void maxima(global int *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    int x = a[i], y = b[i];
    const int *most = greater_of(&x, &y);
    out[i] = *most;
}
