//! Why there is no code for a kernel.

/// Why there is no code for a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The program has no kernel of this name.
    #[error("the program has no kernel `{0}`")]
    NoKernel(String),
    /// Functions that are declared and called, but defined nowhere.
    #[error("undefined: {}", .0.join(", "))]
    Undefined(Vec<String>),
    /// The parts of the program cannot be linked.
    #[error("{0}")]
    Link(#[from] cloom_ir::import::ImportError),
    /// The library of built-in functions cannot be read: a bug of ours.
    #[error("the built-in library is damaged: {0}")]
    Library(String),
    /// The kernel exceeds a limit of the compiler.
    #[error("{0}")]
    Vectoriser(#[from] cloom_spmd::Error),
    /// The kernel has no code of the baseline tier.
    #[error("the kernel is too large for the baseline tier, or has sub-groups")]
    NoBaseline,
    /// The backend cannot make the sub-groups that the kernel requires.
    #[error("the kernel requires sub-groups of {0} work-items, which its code cannot have on this device")]
    SubgroupSize(u16),
    /// So large a launch runs one work-item at a time.
    #[error("the kernel requires a size of sub-groups, which launches with ids of more than 31 bits do not have")]
    SubgroupsOfManyItems,
    /// No backend makes code for the target.
    #[error("no code is made for {0}: its backend is not part of this compiler")]
    NoBackend(String),
    /// The kernel has parameters that no device supports.
    #[error("{0}")]
    Artifact(#[from] cloom_artifact::ArtifactError),
    /// No machine code.
    #[error("{0}")]
    Codegen(#[from] cloom_llvm::Error),
}
