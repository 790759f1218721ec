//! A run as one of several processes, on one machine or on many, that `mpirun` starts: who this one is.
//!
//! The processes of a run are ranks. The numbers come from the environment, so that errors can name a rank also where
//! MPI has not begun or is not built in.

use std::env;

/// This process's rank and how many there are, if a launcher started it as one of several: Open MPI, MPICH or Slurm.
pub fn of_environment() -> Option<(u32, u32)> {
    let number = |name: &str| env::var(name).ok()?.parse().ok();
    [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")]
        .into_iter()
        .find_map(|(rank, size)| Some((number(rank)?, number(size)?)))
}
