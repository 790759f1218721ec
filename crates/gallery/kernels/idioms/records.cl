// Records with arrays in them: a step of bodies in a box. COPIED works on a private copy of the record.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

#define STEP 0.125f

struct body {
    float position[3];
    float velocity[3];
    uint bounces;
    float mass;
};

__kernel void records(__global const struct body *in, __global struct body *out, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;
#ifdef COPIED
    struct body b = in[i];
    for (int k = 0; k < 3; k++) {
        b.position[k] += STEP * b.velocity[k];
        if (fabs(b.position[k]) > 1.0f) {
            b.velocity[k] = -b.velocity[k];
            b.bounces++;
        }
    }
    out[i] = b;
#else
    __global const struct body *from = &in[i];
    __global struct body *to = &out[i];
    uint bounces = from->bounces;
    for (int k = 0; k < 3; k++) {
        const float position = from->position[k] + STEP * from->velocity[k];
        const bool outside = position > 1.0f || position < -1.0f;
        to->position[k] = position;
        to->velocity[k] = outside ? -from->velocity[k] : from->velocity[k];
        bounces += outside ? 1 : 0;
    }
    to->bounces = bounces;
    to->mass = from->mass;
#endif
}
