// check: --arg out=16 --arg a=16:-2000000000 --arg b=16:2000000000 --global 16 --local 8 --enable signed-overflow
// The difference of a very small and a very great number has the wrong sign.
int compare(int x, int y) {
    return x - y; //~ signed-overflow
}
kernel void lesser(global int *out, global const int *a, global const int *b) {
    size_t i = get_global_id(0);
    out[i] = compare(a[i], b[i]) < 0 ? a[i] : b[i];
}
