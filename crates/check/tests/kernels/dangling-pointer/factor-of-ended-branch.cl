// check: --arg out=32 --arg in=32:index --global 32 --local 8
// Both branches let the pointer point to a variable of their block, which has ended at the multiplication.
kernel void scale(global float *out, global const float *in) {
    int i = get_global_id(0);
    const float *factor;
    if (i & 1) {
        float odd = 0.5f * i;
        factor = &odd;
    } else {
        float even = 2.0f;
        factor = &even;
    }
    out[i] = in[i] * *factor; //~ dangling-pointer
}
