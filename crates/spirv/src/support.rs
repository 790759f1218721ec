//! The one table of what is accepted: capabilities, extensions, sets of extended instructions.
//!
//! The reader refuses a module that declares anything else, and the queries of `cl_khr_spirv_queries` answer with the
//! same rows. A row may need something of the device.

use crate::error::{Result, bail};
use cloom_caps::{DeviceCaps, feature};
use cloom_clc::Target;
use spirv::Capability;
use std::ffi::CStr;

/// What a row needs of the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// `double`
    Fp64,
    /// Arithmetic on `half`.
    Fp16,
    Images,
    /// An extension or a feature of OpenCL C.
    Feature(&'static str),
}

use Needs::{Feature, Fp16, Fp64, Images, Nothing};

const SUBGROUPS: Needs = Feature("__opencl_c_subgroups");
const INTEL_SUBGROUPS: Needs = Feature("cl_intel_spirv_subgroups");

/// The capabilities, with what each needs.
const CAPABILITIES: &[(Capability, Needs)] = &[
    (Capability::Addresses, Nothing),
    (Capability::Linkage, Nothing),
    (Capability::Kernel, Nothing),
    (Capability::Vector16, Nothing),
    (Capability::Float16Buffer, Nothing),
    (Capability::Float16, Fp16),
    (Capability::Float64, Fp64),
    (Capability::Int64, Nothing),
    (Capability::Int64Atomics, Feature("cl_khr_int64_base_atomics")),
    (Capability::ImageBasic, Images),
    (Capability::ImageReadWrite, Feature("__opencl_c_read_write_images")),
    (Capability::Groups, Nothing),
    (Capability::DeviceEnqueue, Feature(feature::DEVICE_ENQUEUE)),
    (Capability::LiteralSampler, Images),
    (Capability::Int16, Nothing),
    (Capability::GenericPointer, Feature("__opencl_c_generic_address_space")),
    (Capability::Int8, Nothing),
    (Capability::Sampled1D, Images),
    (Capability::Image1D, Images),
    (Capability::SampledBuffer, Images),
    (Capability::ImageBuffer, Images),
    (Capability::SubgroupDispatch, SUBGROUPS),
    (Capability::GroupNonUniform, SUBGROUPS),
    (Capability::GroupNonUniformVote, Feature("cl_khr_subgroup_non_uniform_vote")),
    (Capability::GroupNonUniformArithmetic, Feature("cl_khr_subgroup_non_uniform_arithmetic")),
    (Capability::GroupNonUniformBallot, Feature("cl_khr_subgroup_ballot")),
    (Capability::GroupNonUniformShuffle, Feature("cl_khr_subgroup_shuffle")),
    (Capability::GroupNonUniformShuffleRelative, Feature("cl_khr_subgroup_shuffle_relative")),
    (Capability::GroupNonUniformClustered, Feature("cl_khr_subgroup_clustered_reduce")),
    (Capability::UniformDecoration, Nothing),
    (Capability::ShaderClockKHR, Feature("cl_khr_kernel_clock")),
    (Capability::Pipes, Feature(feature::PIPES)),
    (Capability::ExpectAssumeKHR, Nothing),
    (Capability::DotProductInput4x8Bit, Feature("cl_khr_integer_dot_product")),
    (Capability::DotProductInput4x8BitPacked, Feature("cl_khr_integer_dot_product")),
    (Capability::DotProduct, Feature("cl_khr_integer_dot_product")),
    (Capability::BitInstructions, Feature("cl_khr_extended_bit_ops")),
    (Capability::GroupNonUniformRotateKHR, Feature("cl_khr_subgroup_rotate")),
    (Capability::GroupUniformArithmeticKHR, Feature("__opencl_c_work_group_collective_functions")),
    (Capability::AtomicFloat32AddEXT, Feature("__opencl_c_ext_fp32_global_atomic_add")),
    (Capability::AtomicFloat64AddEXT, Feature("__opencl_c_ext_fp64_global_atomic_add")),
    (Capability::AtomicFloat32MinMaxEXT, Feature("__opencl_c_ext_fp32_global_atomic_min_max")),
    (Capability::AtomicFloat64MinMaxEXT, Feature("__opencl_c_ext_fp64_global_atomic_min_max")),
    (Capability::SubgroupShuffleINTEL, INTEL_SUBGROUPS),
    (Capability::SubgroupBufferBlockIOINTEL, INTEL_SUBGROUPS),
    (Capability::SubgroupImageBlockIOINTEL, INTEL_SUBGROUPS),
    (Capability::MemoryAccessAliasingINTEL, Nothing),
    (Capability::FPFastMathModeINTEL, Nothing),
    (Capability::OptNoneEXT, Nothing),
];

/// The extensions, with what each needs.
const EXTENSIONS: &[(&CStr, Needs)] = &[
    (c"SPV_EXT_optnone", Nothing),
    (c"SPV_EXT_shader_atomic_float_add", Feature("__opencl_c_ext_fp32_global_atomic_add")),
    (c"SPV_EXT_shader_atomic_float_min_max", Feature("__opencl_c_ext_fp32_global_atomic_min_max")),
    (c"SPV_INTEL_fp_fast_math_mode", Nothing),
    (c"SPV_INTEL_memory_access_aliasing", Nothing),
    (c"SPV_INTEL_optnone", Nothing),
    (c"SPV_INTEL_subgroups", INTEL_SUBGROUPS),
    (c"SPV_KHR_bit_instructions", Feature("cl_khr_extended_bit_ops")),
    (c"SPV_KHR_expect_assume", Nothing),
    (c"SPV_KHR_integer_dot_product", Feature("cl_khr_integer_dot_product")),
    (c"SPV_KHR_linkonce_odr", Feature("cl_khr_spirv_linkonce_odr")),
    (c"SPV_KHR_no_integer_wrap_decoration", Nothing),
    (c"SPV_KHR_non_semantic_info", Nothing),
    (c"SPV_KHR_shader_clock", Feature("cl_khr_kernel_clock")),
    (c"SPV_KHR_subgroup_rotate", Feature("cl_khr_subgroup_rotate")),
    (c"SPV_KHR_uniform_group_instructions", Feature("__opencl_c_work_group_collective_functions")),
];

/// The set of extended instructions that computes.
pub(crate) const OPENCL_STD: &CStr = c"OpenCL.std";

fn has(target: &Target, needs: Needs) -> bool {
    match needs {
        Nothing => true,
        Fp64 => target.fp64,
        Fp16 => target.fp16,
        Images => target.images,
        Feature(name) => target.features.iter().any(|f| f == name),
    }
}

/// What modules for a device may declare (`cl_khr_spirv_queries`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spirv {
    /// Sets of extended instructions; those that compute nothing are not listed.
    pub instruction_sets: Vec<&'static CStr>,
    /// Extensions.
    pub extensions: Vec<&'static CStr>,
    /// The numbers of capabilities.
    pub capabilities: Vec<u32>,
}

impl Spirv {
    /// Of a device by its capabilities.
    pub fn of(caps: &DeviceCaps) -> Spirv {
        let target = Target::of(caps);
        Spirv {
            instruction_sets: vec![OPENCL_STD],
            extensions: EXTENSIONS.iter().filter(|e| has(&target, e.1)).map(|e| e.0).collect(),
            capabilities: CAPABILITIES.iter().filter(|c| has(&target, c.1)).map(|c| c.0 as u32).collect(),
        }
    }
}

/// Refuses what is not in the table.
pub(crate) fn check_capability(number: u32, target: &Target) -> Result<()> {
    let Some(capability) = Capability::from_u32(number) else { bail!("the capability {number} is not known") };
    match CAPABILITIES.iter().find(|c| c.0 == capability) {
        Some(&(_, needs)) if has(target, needs) => Ok(()),
        Some(_) => bail!("the device lacks what the capability {capability:?} needs"),
        None => match capability {
            Capability::PipeStorage => bail!("pipes of a program are not supported (capability PipeStorage)"),
            Capability::Shader => bail!("the module is for graphics (capability Shader), not for OpenCL"),
            _ => bail!("the capability {capability:?} is not supported"),
        },
    }
}

/// Refuses what is not in the table.
pub(crate) fn check_extension(name: &str, target: &Target) -> Result<()> {
    match EXTENSIONS.iter().find(|e| e.0.to_bytes() == name.as_bytes()) {
        Some(&(_, needs)) if has(target, needs) => Ok(()),
        Some(_) => bail!("the device lacks what the extension {name} needs"),
        None => bail!("the extension {name} is not supported"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_accepted() {
        let caps = DeviceCaps::full();
        let (target, told) = (Target::of(caps), Spirv::of(caps));
        for number in 0..7000 {
            let listed = told.capabilities.contains(&number);
            assert_eq!(check_capability(number, &target).is_ok(), listed, "{number}");
        }
        let names = told.extensions.iter().map(|e| e.to_str().unwrap());
        assert!(names.clone().all(|e| check_extension(e, &target).is_ok()));
        assert!(names.clone().any(|e| e == "SPV_KHR_expect_assume"));
        assert!(check_extension("SPV_KHR_nothing", &target).is_err());
    }

    #[test]
    fn a_device_takes_no_more_than_it_has() {
        let bare = Target { features: Vec::new(), fp64: false, fp16: false, images: false, fma: false, fpmath: false };
        for capability in
            [Capability::Float64, Capability::Float16, Capability::ImageBasic, Capability::GroupNonUniform]
        {
            assert!(check_capability(capability as u32, &bare).is_err(), "{capability:?}");
        }
        assert!(check_capability(Capability::Kernel as u32, &bare).is_ok());
        assert!(check_extension("SPV_KHR_shader_clock", &bare).is_err());
    }
}
