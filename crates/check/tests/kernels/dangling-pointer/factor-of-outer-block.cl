// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The branches only choose between two variables of the kernel's body.
kernel void scale(global float *out, global const float *in) {
    int i = get_global_id(0);
    const float *factor;
    float odd, even = 2.0f;
    if (i & 1) {
        odd = 0.5f * i;
        factor = &odd;
    } else {
        factor = &even;
    }
    out[i] = in[i] * *factor;
}
