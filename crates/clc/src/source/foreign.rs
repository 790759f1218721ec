//! Names of other languages that programs in OpenCL C use by mistake, with what there is instead.

/// Name, and what to write. Sorted by name.
const FOREIGN: &[(&str, &str)] = &[
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
    ("atomicCAS", "write `atomic_cmpxchg` in OpenCL C (this is CUDA)"),
    ("atomicExch", "write `atomic_xchg` in OpenCL C (this is CUDA)"),
    ("atomicMax", "write `atomic_max` in OpenCL C (this is CUDA)"),
    ("atomicMin", "write `atomic_min` in OpenCL C (this is CUDA)"),
    ("atomicSub", "write `atomic_sub` in OpenCL C (this is CUDA)"),
    ("blockDim", "write `get_local_size(0)` in OpenCL C (this is CUDA)"),
    ("blockIdx", "write `get_group_id(0)` in OpenCL C (this is CUDA)"),
    ("calloc", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("cout", "write `printf(…)` in OpenCL C"),
    ("free", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("gridDim", "write `get_num_groups(0)` in OpenCL C (this is CUDA)"),
    ("int16_t", "write `short` in OpenCL C: its types have the same size everywhere"),
    ("int32_t", "write `int` in OpenCL C: its types have the same size everywhere"),
    ("int64_t", "write `long` in OpenCL C: its types have the same size everywhere"),
    ("int8_t", "write `char` in OpenCL C: its types have the same size everywhere"),
    ("malloc", "work-items cannot allocate memory: let the host pass a buffer, or declare an array"),
    ("memcpy", "copy with a loop or an assignment, or with `async_work_group_copy`"),
    ("memset", "write a loop, or initialise with `= {0}`"),
    ("rand", "there are no random numbers in OpenCL C: compute them from a seed that the host passes"),
    ("sizeof...", "this is C++"),
    ("std", "OpenCL C is a dialect of C: there are no namespaces"),
    ("string", "there are no strings in OpenCL C but literals: `constant char *text = \"…\"`"),
    ("threadIdx", "write `get_local_id(0)` in OpenCL C (this is CUDA)"),
    ("uint16_t", "write `ushort` in OpenCL C: its types have the same size everywhere"),
    ("uint32_t", "write `uint` in OpenCL C: its types have the same size everywhere"),
    ("uint64_t", "write `ulong` in OpenCL C: its types have the same size everywhere"),
    ("uint8_t", "write `uchar` in OpenCL C: its types have the same size everywhere"),
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
