// check: --arg out=32 --arg bodies=32:pos=index,mass=1 --global 32 --local 8
// The chain should be a ring: the last body has the first one as neighbour, not the one behind the array.
struct body {
    float4 pos;
    float mass;
};
kernel void springs(global float *out, global const struct body *bodies) {
    size_t i = get_global_id(0);
    global const struct body *next = &bodies[i + 1];
    float3 d = next->pos.xyz - bodies[i].pos.xyz; //~ out-of-bounds
    out[i] = bodies[i].mass * dot(d, d);
}
