// check: --arg in=64:index --arg work=64 --arg out=8 --global 8 --local 8
// A work-item sorts a row of its own by insertion, with many reads and writes and no barrier.
kernel void medians(global const int *in, global int *work, global int *out)
{
    size_t row = get_global_id(0) * 8;
    for (int i = 0; i < 8; i++) {
        int v = in[row + i] * 5 % 16, k = i;
        while (k > 0 && work[row + k - 1] > v) {
            work[row + k] = work[row + k - 1];
            k--;
        }
        work[row + k] = v;
    }
    out[get_global_id(0)] = work[row + 4];
}
