// check: --arg coefficients=32:1 --arg in=32:index --global 8 --local 4
// The coefficients are a constant argument; the cast through an integer makes them writable for vstore4.
kernel void scale_coefficients(constant float *coefficients, global const float *in) {
    size_t i = get_global_id(0);
    float4 v = vload4(i, in) * coefficients[4 * i];
    global float *p = (global float *)(uintptr_t)coefficients;
    vstore4(v, i, p); //~ write-to-constant
}
