// The pull of every body on every other one, a body a work-item. ROOT(x) is one of three ways to write 1/sqrt(x); SOFTENING keeps the
// pull of a body on itself, which is zero, from being divided by zero.

#define divided(x) (1.0f / sqrt(x))

float3 pull(float3 at, float3 other, float mass)
{
    const float3 d = other - at;
    const float inverse = ROOT(d.x * d.x + d.y * d.y + d.z * d.z + SOFTENING);
    return d * (mass * (inverse * inverse * inverse));
}

// Place and mass side by side.
__kernel void nbody_aos4(__global const float4 *bodies, unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float3 at = bodies[i].xyz;
    float3 sum = (float3)(0.0f);
    for (unsigned j = 0; j < n; j++)
        sum += pull(at, bodies[j].xyz, bodies[j].w);
    out[i] = (float4)(sum, 0.0f);
}

// Records of seven floats: place, velocity, mass.
__kernel void nbody_aos7(__global const float *bodies, unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float3 at = vload3(0, bodies + i * 7);
    float3 sum = (float3)(0.0f);
    for (unsigned j = 0; j < n; j++)
        sum += pull(at, vload3(0, bodies + j * 7), bodies[j * 7 + 6]);
    out[i] = (float4)(sum, 0.0f);
}

// An array a coordinate.
__kernel void nbody_soa(__global const float *x, __global const float *y, __global const float *z, __global const float *mass,
                        unsigned n, __global float4 *out)
{
    const unsigned i = get_global_id(0);
    if (i >= n)
        return;

    const float3 at = (float3)(x[i], y[i], z[i]);
    float3 sum = (float3)(0.0f);
    for (unsigned j = 0; j < n; j++)
        sum += pull(at, (float3)(x[j], y[j], z[j]), mass[j]);
    out[i] = (float4)(sum, 0.0f);
}

// The group brings as many bodies as it has work-items to local memory at a time. Beyond the last body there is no mass.
__kernel void nbody_aos4_local(__global const float4 *bodies, unsigned n, __global float4 *out, __local float4 *tile)
{
    const unsigned i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    const float3 at = i < n ? bodies[i].xyz : (float3)(0.0f);
    float3 sum = (float3)(0.0f);

    for (unsigned first = 0; first < n; first += size) {
        tile[l] = first + l < n ? bodies[first + l] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (unsigned j = 0; j < size; j++)
            sum += pull(at, tile[j].xyz, tile[j].w);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        out[i] = (float4)(sum, 0.0f);
}

__kernel void nbody_soa_local(__global const float *x, __global const float *y, __global const float *z, __global const float *mass,
                              unsigned n, __global float4 *out, __local float *tile)
{
    const unsigned i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    __local float *tx = tile, *ty = tile + size, *tz = tile + 2 * size, *tm = tile + 3 * size;
    const float3 at = i < n ? (float3)(x[i], y[i], z[i]) : (float3)(0.0f);
    float3 sum = (float3)(0.0f);

    for (unsigned first = 0; first < n; first += size) {
        const unsigned k = first + l;
        tx[l] = k < n ? x[k] : 0.0f;
        ty[l] = k < n ? y[k] : 0.0f;
        tz[l] = k < n ? z[k] : 0.0f;
        tm[l] = k < n ? mass[k] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (unsigned j = 0; j < size; j++)
            sum += pull(at, (float3)(tx[j], ty[j], tz[j]), tm[j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        out[i] = (float4)(sum, 0.0f);
}
