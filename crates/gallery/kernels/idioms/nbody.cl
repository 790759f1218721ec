// The pull of all bodies on each one: position and mass in a float4. COMPONENTS spells the vectors out.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void nbody(__global const float4 *bodies, __global float4 *pulls, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;

    const float4 own = bodies[i];
#ifdef COMPONENTS
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (INDEX j = 0; j < n; j++) {
        const float dx = bodies[j].x - own.x, dy = bodies[j].y - own.y, dz = bodies[j].z - own.z;
        const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
        const float strength = bodies[j].w * inverse * inverse * inverse;
        ax += strength * dx;
        ay += strength * dy;
        az += strength * dz;
    }
    pulls[i] = (float4)(ax, ay, az, 0.0f);
#else
    float3 pull = (float3)(0.0f);
    for (INDEX j = 0; j < n; j++) {
        const float4 other = bodies[j];
        const float3 d = other.xyz - own.xyz;
        const float inverse = rsqrt(dot(d, d) + 0.01f);
        pull += other.w * inverse * inverse * inverse * d;
    }
    pulls[i] = (float4)(pull, 0.0f);
#endif
}
