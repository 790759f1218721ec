// check: --arg mass=16:index --arg force=49 --global 16 --local 1
// Groups of one work-item store four floats for each triple; the last one is the next group's first.
kernel void forces(global const float *mass, global float *force)
{
    size_t g = get_global_id(0);
    float m = mass[g];
    vstore4((float4)(0.0f, -9.81f * m, 0.0f, 0.0f), 0, force + 3 * g); //~ race-groups
}
