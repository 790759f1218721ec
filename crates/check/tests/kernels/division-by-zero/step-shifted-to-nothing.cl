// check: --arg out=16 --arg in=16:50 --global 16 --local 8
// The step is halved with each work-item: from the fourth one on it is zero.
int groups_of(int n, int step) {
    return (n + step - 1) / step; //~ division-by-zero
}
kernel void counts(global int *out, global const int *in) {
    int i = get_global_id(0);
    out[i] = groups_of(in[i], 4 >> i);
}
