// check: --arg out=16 --arg in=160:index --global 16 --local 8
// Counters run to 10; the ring of four is indexed by their last two bits.
kernel void moving_sums(global int *out, global const int *in) {
    int i = get_global_id(0);
    int ring[4] = {0, 0, 0, 0};
    int sum = 0, best = 0;
    for (int k = 0; k < 10; k++) {
        int v = in[10 * i + k];
        sum += v - ring[k & 3];
        ring[k & 3] = v;
        best = max(best, sum);
    }
    out[i] = best;
}
