// Particles in the unit cube, as records of six floats (position, velocity) or as an array for each component.
// Contraction is off, so that every platform computes the same positions.
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    float at[3], velocity[3];
} particle;

// A time step; walls reflect the particles.
float advance(float at, float *velocity)
{
    const float next = at + *velocity;
    if (next < 0.0f || next > 1.0f) {
        *velocity = -*velocity;
        return at;
    }
    return next;
}

__kernel void particles_move_aos(__global particle *p, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    for (int c = 0; c < 3; c++) {
        float velocity = p[i].velocity[c];
        p[i].at[c] = advance(p[i].at[c], &velocity);
        p[i].velocity[c] = velocity;
    }
}

// Component c of particle i is at c * n + i.
__kernel void particles_move_soa(__global float *p, unsigned n)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    for (int c = 0; c < 3; c++) {
        float velocity = p[(c + 3) * n + i];
        p[c * n + i] = advance(p[c * n + i], &velocity);
        p[(c + 3) * n + i] = velocity;
    }
}

// What two particles contribute by their distance: more, the closer they are.
float closeness(float dx, float dy, float dz)
{
    return 1.0f / (SOFTENING + sqrt(dx * dx + dy * dy + dz * dz));
}

__kernel void particles_pairs_aos(__global const particle *p, unsigned n, __global float *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    float sum = 0.0f;
    for (unsigned j = 0; j < n; j++)
        sum += closeness(p[j].at[0] - p[i].at[0], p[j].at[1] - p[i].at[1], p[j].at[2] - p[i].at[2]);
    out[i] = sum;
}

__kernel void particles_pairs_soa(__global const float *p, unsigned n, __global float *out)
{
    __global const float *x = p, *y = p + n, *z = p + 2 * n;
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    float sum = 0.0f;
    for (unsigned j = 0; j < n; j++)
        sum += closeness(x[j] - x[i], y[j] - y[i], z[j] - z[i]);
    out[i] = sum;
}
