// check: --arg start=16:index --arg out=16 --global 16 --local 16
// The position of a neighbour is read while the neighbour moves: a barrier is missing before the second statement of the loop.
struct particle {
    float position;
    float velocity;
};

kernel void chain(global const float *start, global float *out)
{
    local struct particle p[16];
    uint l = get_local_id(0);
    p[l].position = start[l];
    p[l].velocity = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < 3; step++) {
        p[l].velocity += p[(l + 1) % 16].position - p[l].position; //~ race-local
        p[l].position += 0.5f * p[l].velocity;                     //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = p[l].position;
}
