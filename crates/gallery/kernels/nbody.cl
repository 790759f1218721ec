// The pull of every body on every other one, a body a work-item. ROOT(x) is one of three ways to write 1/sqrt(x);
// SOFTENING keeps the pull of a body on itself, which is zero, from being divided by zero.

#define divided(x) (1.0f / sqrt(x))

// Adds the pull of a body with that position and mass on the one at (x0, y0, z0).
#define PULL(x_, y_, z_, mass_)                                                 \
    do {                                                                        \
        const float dx = (x_) - x0, dy = (y_) - y0, dz = (z_) - z0;             \
        const float inverse = ROOT(dx * dx + dy * dy + dz * dz + SOFTENING);    \
        const float strength = (mass_) * (inverse * inverse * inverse);         \
        sx += dx * strength;                                                    \
        sy += dy * strength;                                                    \
        sz += dz * strength;                                                    \
    } while (0)

// Position and mass in one float4.
__kernel void nbody_aos4(__global const float4 *bodies, unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float x0 = bodies[i].x, y0 = bodies[i].y, z0 = bodies[i].z;
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (unsigned j = 0; j < n; j++) {
        const float4 other = bodies[j];
        PULL(other.x, other.y, other.z, other.w);
    }
    out[i] = (float4)(sx, sy, sz, 0.0f);
}

// Records of seven floats: position, velocity, mass.
__kernel void nbody_aos7(__global const float *bodies, unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float x0 = bodies[i * 7], y0 = bodies[i * 7 + 1], z0 = bodies[i * 7 + 2];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (unsigned j = 0; j < n; j++)
        PULL(bodies[j * 7], bodies[j * 7 + 1], bodies[j * 7 + 2], bodies[j * 7 + 6]);
    out[i] = (float4)(sx, sy, sz, 0.0f);
}

// An array a coordinate.
__kernel void nbody_soa(__global const float *x, __global const float *y, __global const float *z, __global const float *mass,
                        unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float x0 = x[i], y0 = y[i], z0 = z[i];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (unsigned j = 0; j < n; j++)
        PULL(x[j], y[j], z[j], mass[j]);
    out[i] = (float4)(sx, sy, sz, 0.0f);
}

// The group copies as many bodies as it has work-items to local memory at a time. Beyond the last body there is no
// mass.
__kernel void nbody_aos4_local(__global const float4 *bodies, unsigned n, __global float4 *out, __local float4 *tile)
{
    const unsigned i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    const float4 own = i < n ? bodies[i] : (float4)(0.0f);
    const float x0 = own.x, y0 = own.y, z0 = own.z;
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;

    for (unsigned first = 0; first < n; first += size) {
        tile[l] = first + l < n ? bodies[first + l] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (unsigned j = 0; j < size; j++)
            PULL(tile[j].x, tile[j].y, tile[j].z, tile[j].w);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        out[i] = (float4)(sx, sy, sz, 0.0f);
}

__kernel void nbody_soa_local(__global const float *x, __global const float *y, __global const float *z, __global const float *mass,
                              unsigned n, __global float4 *out, __local float *tile)
{
    const unsigned i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    __local float *tx = tile, *ty = tile + size, *tz = tile + 2 * size, *tm = tile + 3 * size;
    const float x0 = i < n ? x[i] : 0.0f, y0 = i < n ? y[i] : 0.0f, z0 = i < n ? z[i] : 0.0f;
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;

    for (unsigned first = 0; first < n; first += size) {
        const unsigned k = first + l;
        tx[l] = k < n ? x[k] : 0.0f;
        ty[l] = k < n ? y[k] : 0.0f;
        tz[l] = k < n ? z[k] : 0.0f;
        tm[l] = k < n ? mass[k] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (unsigned j = 0; j < size; j++)
            PULL(tx[j], ty[j], tz[j], tm[j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        out[i] = (float4)(sx, sy, sz, 0.0f);
}
