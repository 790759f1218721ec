// check: --arg out=32 --arg a=32:index --arg b=32:16 --global 32 --local 8
// The helper returns the address of its own variable.
int *greater_of(int a, int b) {
    int most = a > b ? a : b;
    int *result = &most;
    return result;
}
kernel void maxima(global int *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    int *most = greater_of(a[i], b[i]);
    out[i] = *most; //~ dangling-pointer
}
