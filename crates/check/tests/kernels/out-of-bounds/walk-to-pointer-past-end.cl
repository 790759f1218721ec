// check: --arg sums=8 --arg in=64:index --global 8 --local 4
// The end of the last row is the end of the buffer: a pointer there is computed and compared, but not read.
kernel void row_sums(global int *sums, global const int *in) {
    size_t row = get_global_id(0);
    global const int *end = in + 8 * (row + 1);
    int sum = 0;
    for (global const int *p = end - 8; p != end; p++)
        sum += *p;
    sums[row] = sum;
}
