// check: --arg out=16 --arg sum=16:index --arg count=16:0 --global 16 --local 8
// A division of floats by zero gives an infinity or NaN, which the kernel tests for.
kernel void means(global float *out, global const float *sum, global const int *count) {
    size_t i = get_global_id(0);
    float mean = sum[i] / count[i];
    out[i] = isfinite(mean) ? mean : -1.0f;
}
