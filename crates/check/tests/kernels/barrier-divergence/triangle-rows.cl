// check: --arg a=64:index --arg b=8:1 --arg x=8 --global 8 --local 8
// Rows of a triangle have different lengths, and the loop over the row has a barrier.
kernel void lower_product(global const float *a, global const float *b, global float *x)
{
    local float part[8];
    uint l = get_local_id(0);
    float sum = 0.0f;
    part[l] = b[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < l; k++) {
        sum += a[l * 8 + k] * part[k];
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    }
    x[l] = sum + part[l];
}
