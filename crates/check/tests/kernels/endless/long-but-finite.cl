// check: --arg out=1 --arg n=400000 --global 1 --local 1
// Half a million iterations end.
kernel void count(global int *out, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum ^= i;
    out[0] = sum;
}
