//! Sub-groups of a kernel on a device: how the code of a launch divides work-groups into sub-groups.
//!
//! In comes a local size, or a number of sub-groups of a group; out go sizes and counts. On a CPU, a sub-group is a
//! vector of the variant that a launch with that local size runs ([`KernelCode::loaded_for`]); of a row of the group,
//! the last may be smaller. On a machine with SIMD groups of a fixed size, it is one of these: neighbours by local
//! linear id; the last one may have fewer.

use crate::{Device, KernelCode, Result};
use cloom_artifact::KernelArtifact;
use cloom_caps::limits;
use cloom_hal::NdRange;
use cloom_ir::KernelMeta;

/// How groups of one size are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subgroups {
    /// Work-items of the largest sub-group.
    pub max_size: u64,
    /// Sub-groups of a group.
    pub count: u64,
}

/// Work-items of a whole sub-group.
fn whole(artifact: &KernelArtifact) -> u64 {
    match artifact.target.machine().simd_group() {
        Some(size) => size.into(),
        None => artifact.cpu().map_or(1, |cpu| u64::from(cpu.lanes)),
    }
}

/// How groups of a size are divided. Dimensions that are not named are 1.
pub fn of_local_size(code: &KernelCode, sizes: &[u64]) -> Result<Subgroups> {
    let mut local = [1; 3];
    local.iter_mut().zip(sizes).for_each(|(l, &s)| *l = s.max(1));
    let range = NdRange { work_dim: sizes.len().clamp(1, 3) as u32, offset: [0; 3], global: local, local };
    let loaded = code.loaded_for(&range)?;
    let lanes = whole(loaded.artifact());
    let items = |dims: &mut dyn Iterator<Item = usize>| dims.fold(1u64, |n, d| n.saturating_mul(local[d]));
    let Some(cpu) = loaded.artifact().cpu() else {
        return Ok(Subgroups { max_size: lanes, count: items(&mut (0..3)).div_ceil(lanes) });
    };
    let dim = usize::from(cpu.dim_order[0]).min(2);
    // Vectors do not cross rows, so each row has its own last vector, which may be partial.
    let rows = items(&mut (0..3).filter(|&d| d != dim));
    Ok(Subgroups { max_size: local[dim].min(lanes), count: local[dim].div_ceil(lanes).saturating_mul(rows) })
}

// OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
/// A local size whose groups have so many sub-groups, full ones if that is possible; zeros if there is none.
pub fn for_count(meta: &KernelMeta, code: &KernelCode, count: u64, dims: usize) -> Result<[u64; 3]> {
    let none = [0; 3];
    let most = code.device().max_group_size();
    let dims = dims.clamp(1, 3);
    if count == 0 || count > most {
        return Ok(none);
    }
    if let Some(required) = meta.reqd_group_size {
        let required = required.map(u64::from);
        let fits = required[dims..].iter().all(|&s| s == 1) && of_local_size(code, &required)?.count == count;
        return Ok(if fits { required } else { none });
    }
    let lanes = whole(code.loaded()?.artifact());
    // Whole sub-groups in a row; or rows of one work-item each, where the code is vectorised along another dimension.
    let mut candidates = vec![[count.saturating_mul(lanes), 1, 1], [count, 1, 1]];
    if dims > 1 {
        candidates.push([1, count, 1]);
    }
    for local in candidates {
        if local.iter().product::<u64>() <= most && of_local_size(code, &local)?.count == count {
            return Ok(local);
        }
    }
    Ok(none)
}

/// Sub-groups of a group of any size that a launch may have, at most.
pub fn max_count(meta: &KernelMeta, code: &KernelCode) -> Result<u64> {
    match meta.reqd_group_size {
        Some(required) => Ok(of_local_size(code, &required.map(u64::from))?.count),
        None => Ok(code.device().max_subgroups()),
    }
}

impl Device {
    /// The preferred multiple of the local size: groups of a multiple fill the vector registers, or the
    /// SIMD groups.
    pub fn group_multiple(&self) -> u32 {
        let info = self.info();
        info.target.machine().simd_group().unwrap_or((info.vector_bits / 32).max(1))
    }

    /// Sub-groups of a group, at most: each work-item may be one, unless the machine fixes their size.
    pub fn max_subgroups(&self) -> u64 {
        let smallest = self.info().target.machine().simd_group().map_or(1, u64::from);
        self.max_group_size().div_ceil(smallest)
    }

    /// The numbers of work-items that a kernel may require of its sub-groups.
    pub fn subgroup_sizes(&self) -> Vec<u64> {
        match self.info().target.machine().simd_group() {
            Some(size) => vec![size.into()],
            None => limits::SUB_GROUP_SIZES.iter().map(|&size| size.into()).collect(),
        }
    }
}
