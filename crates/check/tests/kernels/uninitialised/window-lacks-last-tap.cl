// check: --arg out=32 --arg in=36:index --global 32 --local 8
// Four of the window's five elements are filled, and five are summed.
#define TAPS 5
kernel void window_sums(global int *out, global const int *in) {
    int i = get_global_id(0);
    int window[TAPS];
    for (int k = 0; k < TAPS - 1; k++)
        window[k] = in[i + k];
    int sum = 0;
    for (int k = 0; k < TAPS; k++)
        sum += window[k];
    out[i] = sum; //~ uninitialised
}
