//! Names of other languages that programs in OpenCL C use by mistake, with what there is instead.

/// Name, and what to write. Sorted by name.
const FOREIGN: &[(&str, &str)] = &[
    ("CLK_GLOBAL_MEM", "write `CLK_GLOBAL_MEM_FENCE`"),
    ("CLK_IMAGE_MEM", "write `CLK_IMAGE_MEM_FENCE`"),
    ("CLK_LOCAL_MEM", "write `CLK_LOCAL_MEM_FENCE`"),
    ("__device__", "functions that kernels call need no word in OpenCL C: leave it out (this is CUDA)"),
    ("__global__", "a kernel of CUDA; write `kernel` in OpenCL C"),
    ("__half", "write `half` in OpenCL C"),
    ("__host__", "the program of the host is another one (this is CUDA): leave it out"),
    ("__ldg", "read through the pointer (this is CUDA)"),
    ("__shared__", "memory of the group in CUDA; write `local` in OpenCL C"),
    ("__shfl_down_sync", "exchange values through local memory and `barrier` (this is CUDA)"),
    ("__syncthreads", "write `barrier(CLK_LOCAL_MEM_FENCE)` in OpenCL C (this is CUDA)"),
    ("__threadfence", "write `mem_fence(CLK_GLOBAL_MEM_FENCE)` in OpenCL C (this is CUDA)"),
    ("assert", "there is no `assert` in OpenCL C: test with `if` and write what is wrong into a buffer"),
    ("atomicAdd", "write `atomic_add` in OpenCL C (this is CUDA)"),
    ("atomicAnd", "write `atomic_and` in OpenCL C (this is CUDA)"),
    ("atomicCAS", "write `atomic_cmpxchg` in OpenCL C (this is CUDA)"),
    ("atomicExch", "write `atomic_xchg` in OpenCL C (this is CUDA)"),
    ("atomicMax", "write `atomic_max` in OpenCL C (this is CUDA)"),
    ("atomicMin", "write `atomic_min` in OpenCL C (this is CUDA)"),
    ("atomicOr", "write `atomic_or` in OpenCL C (this is CUDA)"),
    ("atomicSub", "write `atomic_sub` in OpenCL C (this is CUDA)"),
    ("atomicXor", "write `atomic_xor` in OpenCL C (this is CUDA)"),
    ("blockDim", "write `get_local_size(0)` in OpenCL C (this is CUDA)"),
    ("blockIdx", "write `get_group_id(0)` in OpenCL C (this is CUDA)"),
    ("calloc", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("cout", "write `printf(…)` in OpenCL C"),
    ("dvec2", "write `double2` in OpenCL C (this is GLSL)"),
    ("dvec3", "write `double3` in OpenCL C (this is GLSL)"),
    ("dvec4", "write `double4` in OpenCL C (this is GLSL)"),
    ("frac", "write `fract(x, &whole)` in OpenCL C, or `x - floor(x)` (this is HLSL)"),
    ("free", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("gridDim", "write `get_num_groups(0)` in OpenCL C (this is CUDA)"),
    ("int16_t", "write `short` in OpenCL C: its types have the same size everywhere"),
    ("int32_t", "write `int` in OpenCL C: its types have the same size everywhere"),
    ("int64_t", "write `long` in OpenCL C: its types have the same size everywhere"),
    ("int8_t", "write `char` in OpenCL C: its types have the same size everywhere"),
    ("inversesqrt", "write `rsqrt` in OpenCL C (this is GLSL)"),
    ("ivec2", "write `int2` in OpenCL C (this is GLSL)"),
    ("ivec3", "write `int3` in OpenCL C (this is GLSL)"),
    ("ivec4", "write `int4` in OpenCL C (this is GLSL)"),
    ("lerp", "write `mix(a, b, t)` in OpenCL C (this is HLSL)"),
    ("make_float2", "write `(float2)(x, y)` in OpenCL C (this is CUDA)"),
    ("make_float3", "write `(float3)(x, y, z)` in OpenCL C (this is CUDA)"),
    ("make_float4", "write `(float4)(x, y, z, w)` in OpenCL C (this is CUDA)"),
    ("make_int2", "write `(int2)(x, y)` in OpenCL C (this is CUDA)"),
    ("make_int3", "write `(int3)(x, y, z)` in OpenCL C (this is CUDA)"),
    ("make_int4", "write `(int4)(x, y, z, w)` in OpenCL C (this is CUDA)"),
    ("malloc", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("mat2", "there are no matrices in OpenCL C: use an array of `float2`"),
    ("mat3", "there are no matrices in OpenCL C: use an array of `float3`"),
    ("mat4", "there are no matrices in OpenCL C: use an array of `float4`"),
    ("memcpy", "copy with a loop or an assignment, or with `async_work_group_copy`"),
    ("memset", "write a loop, or initialise with `= {0}`"),
    ("null", "write `NULL` in OpenCL C"),
    ("nullptr", "write `NULL` in OpenCL C (this is C++)"),
    ("rand", "there are no random numbers in OpenCL C: compute them from a seed that the host passes"),
    ("saturate", "write `clamp(x, 0.0f, 1.0f)` in OpenCL C (this is HLSL)"),
    ("sizeof...", "this is C++"),
    ("std", "OpenCL C is a dialect of C: there are no namespaces"),
    ("string", "there are no strings in OpenCL C but literals: `constant char *text = \"…\"`"),
    ("texture", "images are read by `read_imagef(image, sampler, coordinates)` in OpenCL C (this is GLSL)"),
    ("threadIdx", "write `get_local_id(0)` in OpenCL C (this is CUDA)"),
    ("uint16_t", "write `ushort` in OpenCL C: its types have the same size everywhere"),
    ("uint32_t", "write `uint` in OpenCL C: its types have the same size everywhere"),
    ("uint64_t", "write `ulong` in OpenCL C: its types have the same size everywhere"),
    ("uint8_t", "write `uchar` in OpenCL C: its types have the same size everywhere"),
    ("uvec2", "write `uint2` in OpenCL C (this is GLSL)"),
    ("uvec3", "write `uint3` in OpenCL C (this is GLSL)"),
    ("uvec4", "write `uint4` in OpenCL C (this is GLSL)"),
    ("vec2", "write `float2` in OpenCL C (this is GLSL)"),
    ("vec3", "write `float3` in OpenCL C (this is GLSL)"),
    ("vec4", "write `float4` in OpenCL C (this is GLSL)"),
    ("vector", "there are no containers in OpenCL C: use an array or a buffer"),
    ("warpSize", "write `get_local_size(0)`, or do not depend on it (this is CUDA)"),
];

/// Replacements for names of other languages.
pub fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.binary_search_by_key(&name, |f| f.0).ok().map(|i| FOREIGN[i].1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_sorted() {
        assert!(super::FOREIGN.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(super::foreign("threadIdx").is_some() && super::foreign("get_local_id").is_none());
    }
}
