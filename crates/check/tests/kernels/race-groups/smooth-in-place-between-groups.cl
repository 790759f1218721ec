// check: --arg p=64:index --arg n=64 --global 64 --local 16
// The barrier orders the reads and writes of one group; at its edges a group reads what others overwrite.
kernel void smooth(global float *p, uint n)
{
    uint g = get_global_id(0);
    float left = g > 0 ? p[g - 1] : 0.0f;      //~ race-groups
    float right = g + 1 < n ? p[g + 1] : 0.0f; //~ race-groups
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[g] = 0.5f * (left + right); //~ race-groups
}
