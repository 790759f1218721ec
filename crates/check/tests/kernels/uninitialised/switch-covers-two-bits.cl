// check: --arg out=32 --arg in=32:index --global 32 --local 8
// There is no default, and no fifth value of two bits.
kernel void apply(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int result;
    switch (in[i] & 3) {
    case 0: result = in[i] + 1; break;
    case 1: result = in[i] * 2; break;
    case 2: result = -in[i]; break;
    case 3: result = 0; break;
    }
    out[i] = result;
}
