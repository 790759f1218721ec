// check: --arg p=64:index --global 64 --local 16
// Each group smooths its own slice in place, without a barrier between the reads and the writes.
kernel void smooth(global float *p)
{
    size_t l = get_local_id(0), g = get_global_id(0);
    float left = l > 0 ? p[g - 1] : 0.0f;   //~ race-global
    float right = l < 15 ? p[g + 1] : 0.0f; //~ race-global
    p[g] = 0.5f * (left + right);           //~ race-global
}
