// check: --arg out=8 --arg tables=32:index --global 8 --local 8
// The pointer changes, and not the constant memory to which it points.
kernel void table_sums(global int *out, constant int *tables) {
    size_t i = get_global_id(0);
    constant int *p = tables + 4 * i;
    int sum = 0;
    for (constant int *end = p + 4; p < end; p++)
        sum += *p;
    out[i] = sum;
}
