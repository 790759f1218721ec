// check: --arg u=64:index --arg row=34 --arg steps=4 --global 64 --local 32
// Each step has a barrier between reads and writes, but none between its writes and the reads of the next step.
kernel void diffuse(global float *u, local float *row, int steps)
{
    int l = get_local_id(0), g = get_global_id(0);
    row[l + 1] = u[g];
    if (l == 0) {
        row[0] = 0.0f;
        row[33] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < steps; s++) {
        float mean = (row[l] + row[l + 1] + row[l + 2]) / 3.0f; //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
        row[l + 1] = mean; //~ race-local
    }
    u[g] = row[l + 1];
}
