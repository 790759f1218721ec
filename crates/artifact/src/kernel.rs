//! A kernel compiled for one target.

use cloom_ir::abi::CpuLaunch;
use cloom_ir::abi::gpu::GpuLaunch;
use cloom_ir::{CheckedAccess, FuncRef, Function, Hidden, KernelMeta, Module, Op, ParamKind};
use cloom_target::Target;
use serde::{Deserialize, Serialize};

/// Code of one kernel, with the data that every device needs to run it. Offsets and sizes in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelArtifact {
    /// The kernel's name in the source.
    pub name: String,
    /// The target of the code; a device refuses code of a target that it cannot run.
    pub target: Target,
    /// A relocatable object file (ELF on a CPU), or text for the device's driver.
    pub code: Vec<u8>,
    /// The symbol in `code` of the function to run.
    pub entry: String,
    /// The kernel's parameters, in order.
    pub args: Vec<KernelArg>,
    /// What the last of them are, which the source does not have.
    pub hidden: Vec<Hidden>,
    /// The accesses whose records [`Hidden::Reports`] points to.
    pub checked: Vec<CheckedAccess>,
    /// Size of the argument block.
    pub arg_block: u32,
    /// Static local memory of a group.
    pub local_size: u64,
    /// Private memory of a work-item, as reported to the application.
    pub private_size: u64,
    /// The local size that the source requires.
    pub reqd_group_size: Option<[u32; 3]>,
    /// The size of sub-groups in every launch; `None`: it depends on the launch, or nothing in the kernel does on it.
    pub subgroup_size: Option<u16>,
    /// `-cl-denorms-are-zero`: the launcher may flush denormals to zero.
    pub denorms_are_zero: bool,
    /// Formats of printf, by number.
    pub printf_formats: Vec<Vec<u8>>,
    /// Whether it calls its launcher, as kernels that enqueue others do.
    pub enqueues: bool,
    /// What one call of the code runs.
    pub launch: LaunchForm,
}

/// What one call of a kernel's code runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LaunchForm {
    /// A work-group, by the conventions of [`cloom_ir::abi`]: code for a CPU.
    WorkGroup(CpuLaunch),
    /// A work-item, by the conventions of [`cloom_ir::abi::gpu`]: the device forms groups, has barriers and gives ids.
    WorkItem(GpuLaunch),
}

/// The part of an artifact that the code generator provides, beyond the kernel's metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCode {
    /// The target of the code.
    pub target: Target,
    /// The code.
    pub code: Vec<u8>,
    /// The symbol of the function to run.
    pub entry: String,
    /// Bytes of static local memory of a group.
    pub local_size: u64,
    /// Bytes of private memory of a work-item.
    pub private_size: u64,
    /// The size of sub-groups in every launch, if that is fixed.
    pub subgroup_size: Option<u16>,
    /// Whether the launcher may flush denormals to zero.
    pub denorms_are_zero: bool,
    /// What one call runs.
    pub launch: LaunchForm,
}

/// Why there is no artifact for a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The function has no kernel metadata.
    #[error("`{0}` is not a kernel")]
    NotAKernel(String),
}

impl KernelArtifact {
    /// Builds the artifact of a kernel from its metadata and its code.
    pub fn new(module: &Module, kernel: FuncRef, code: KernelCode) -> Result<KernelArtifact, ArtifactError> {
        let func = &module.funcs[kernel];
        let meta = func.kernel.as_deref().ok_or_else(|| ArtifactError::NotAKernel(func.name.clone()))?;
        let (args, arg_block) = arguments(meta);
        let KernelCode { target, code, entry, local_size, private_size, subgroup_size, denorms_are_zero, launch } =
            code;
        Ok(KernelArtifact {
            name: func.name.clone(),
            target,
            code,
            entry,
            args,
            hidden: meta.hidden.clone(),
            checked: meta.checked.clone(),
            arg_block,
            local_size,
            private_size,
            reqd_group_size: meta.reqd_group_size,
            subgroup_size,
            denorms_are_zero,
            printf_formats: module.strings.values().cloned().collect(),
            // Callees that are not inlined count, too.
            enqueues: module.funcs.values().any(calls_launcher),
            launch,
        })
    }

    /// How the code is launched on a GPU; `None` if it is a work-group function.
    pub fn gpu(&self) -> Option<&GpuLaunch> {
        match &self.launch {
            LaunchForm::WorkGroup(_) => None,
            LaunchForm::WorkItem(launch) => Some(launch),
        }
    }

    /// How the code is launched on a CPU; `None` if it is no work-group function.
    pub fn cpu(&self) -> Option<&CpuLaunch> {
        match &self.launch {
            LaunchForm::WorkGroup(launch) => Some(launch),
            LaunchForm::WorkItem(_) => None,
        }
    }
}

/// Whether a function calls the launcher.
fn calls_launcher(func: &Function) -> bool {
    func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::DeviceCall(_)))
}

/// The layout of a kernel's argument block, and its size.
fn arguments(meta: &KernelMeta) -> (Vec<KernelArg>, u32) {
    let (offsets, size) = meta.layout();
    let args = meta.params.iter().zip(offsets).map(|(p, offset)| {
        let kind = match p.kind {
            // Each is an address to the launcher.
            ParamKind::Global | ParamKind::Constant | ParamKind::Pipe => KernelArgKind::Buffer,
            ParamKind::Local => KernelArgKind::Local,
            ParamKind::Value | ParamKind::Struct | ParamKind::Queue => KernelArgKind::Bytes,
            ParamKind::Image => KernelArgKind::Image,
            ParamKind::Sampler => KernelArgKind::Sampler,
        };
        KernelArg { kind, offset, size: p.size }
    });
    (args.collect(), size)
}

/// A parameter in the argument block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelArg {
    /// What it is.
    pub kind: KernelArgKind,
    /// Offset in the argument block.
    pub offset: u32,
    /// Bytes there.
    pub size: u32,
}

/// What the argument block holds for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum KernelArgKind {
    /// The bytes of a value or a structure.
    Bytes,
    /// The device address of a buffer, or 0.
    Buffer,
    /// The offset of a block of local memory, placed by the launcher after the static one.
    Local,
    /// The address of an image's descriptor ([`cloom_ir::abi::image`]).
    Image,
    /// The bits of a sampler.
    Sampler,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(kind: &str) -> Result<KernelArtifact, ArtifactError> {
        let text = format!(
            "func external @k(ptr<global>, i32) kernel {{
  param \"n\" \"int\" value size 4 align 4
  param \"p\" \"T\" {kind} size 8 align 8
}} {{
bb0(v0: i32, v1: ptr<global>):
    ret
}}"
        )
        .replace("(ptr<global>, i32)", "(i32, ptr<global>)");
        let module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let code = KernelCode {
            target: Target::generic(),
            code: vec![1],
            entry: "k.group".into(),
            local_size: 5,
            private_size: 6,
            subgroup_size: None,
            denorms_are_zero: true,
            launch: LaunchForm::WorkGroup(CpuLaunch::SCALAR),
        };
        KernelArtifact::new(&module, kernel, code)
    }

    #[test]
    fn parameters_get_their_places() {
        let made = artifact("global").unwrap();
        let arg = |kind, offset, size| KernelArg { kind, offset, size };
        assert_eq!(made.args, [arg(KernelArgKind::Bytes, 0, 4), arg(KernelArgKind::Buffer, 8, 8)]);
        assert_eq!((made.arg_block, made.name.as_str(), made.cpu()), (16, "k", Some(&CpuLaunch::SCALAR)));
    }

    #[test]
    fn images_and_samplers_are_arguments() {
        let image = artifact("image").map(|made| made.args[1].kind);
        assert_eq!(image, Ok(KernelArgKind::Image));
    }

    #[test]
    fn an_artifact_survives_the_round_trip_with_its_target() {
        let made = artifact("global").unwrap();
        assert_eq!(KernelArtifact::decode("", &made.encode("")), Ok(made.clone()));
        let item = KernelArtifact { launch: LaunchForm::WorkItem(GpuLaunch::default()), ..made };
        assert_eq!(KernelArtifact::decode("", &item.encode("")).map(|a| a.cpu().copied()), Ok(None));
    }
}
