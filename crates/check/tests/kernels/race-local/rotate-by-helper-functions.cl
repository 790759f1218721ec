// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The value of the neighbour is fetched and the own one is replaced without a barrier between both calls.
void put(local int *ring, uint i, int v)
{
    ring[i % 16] = v; //~ race-local
}

int get(local const int *ring, uint i)
{
    return ring[i % 16]; //~ race-local
}

kernel void rotate_twice(global const int *in, global int *out)
{
    local int ring[16];
    uint l = get_local_id(0), g = get_global_id(0);
    put(ring, l, in[g]);
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = get(ring, l + 1);
    put(ring, l, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = get(ring, l + 1);
}
