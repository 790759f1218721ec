//! What code is made for: one type that the front end, the vectoriser, code generation and the devices share.
//!
//! In comes the name of a target; out goes a [`Target`] with the properties that decide which code is made:
//!
//! ```text
//! x86_64-unknown-linux-gnu : x86-64-v4 +intel
//! └────── triple ────────┘   └─ CPU ─┘ └ tuning
//! ```
//!
//! The triple and the CPU are LLVM's names (`-mtriple`, `-mcpu`). As in LLVM, *features* say what the instruction set
//! has, and *tuning* says what is fast (`-mtune`); the optional suffix selects the tuning. A name is parsed once, where
//! it enters (a device, the command line, a cached file); from then on the parsed value is passed along, so that no two
//! stages can read one name differently.
//!
//! A triple that this crate does not know is no error: the target then has the features of [`Target::generic`], and a
//! code generator for it is registered by that name. In place of tuning, such a name may describe the machine
//! ([`machine`]). A known triple with an unknown CPU is an error, because code for it would be a guess.
//!
//! [`cpu`] has the table of CPU levels, [`nvidia`] that of a family of GPUs; [`Machine`] answers what differs between
//! them. [`ops`] has the classes of operations that machine code is counted by.

#![forbid(unsafe_code)]

pub mod cpu;
pub mod machine;
pub mod nvidia;
pub mod ops;

pub use cpu::{Cache, Features, LEVELS, Level, MaskedAccess, Tuning};
pub use machine::{CodeUnit, Machine};

use machine::{Family, WORDS};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A family of instruction sets of CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    AArch64,
    /// No CPU, or one without a table in this crate.
    Other,
}

impl Architecture {
    /// The architecture that this program was compiled for.
    pub const HOST: Architecture =
        if cfg!(target_arch = "aarch64") { Architecture::AArch64 } else { Architecture::X86_64 };

    /// Those with a table, and their triples.
    const TRIPLES: [(Architecture, &str); 2] =
        [(Architecture::X86_64, "x86_64-unknown-linux-gnu"), (Architecture::AArch64, "aarch64-unknown-linux-gnu")];

    /// LLVM's triple for it.
    pub fn triple(self) -> &'static str {
        Self::TRIPLES.iter().find(|(a, _)| *a == self).map_or("unknown", |(_, triple)| triple)
    }

    fn of_triple(triple: &str) -> Architecture {
        Self::TRIPLES.iter().find(|(_, t)| *t == triple).map_or(Architecture::Other, |(a, _)| *a)
    }
}

/// The families of other devices.
const FAMILIES: &[Family] = &[nvidia::FAMILY];

/// Why a text names no target.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// It is not of the form `triple:cpu`.
    #[error("`{0}` names no target: expected triple:cpu, such as x86_64-unknown-linux-gnu:x86-64-v3")]
    Form(String),
    /// The triple is known, the processor is not.
    #[error("no code is made for {name}: the processor must be {known}")]
    Cpu {
        /// The text.
        name: String,
        /// The processors of that triple, in words.
        known: String,
    },
    /// A suffix that means nothing for the CPU.
    #[error("`+{tuning}` after {cpu} is unknown: leave it out")]
    Tuning {
        /// The CPU.
        cpu: String,
        /// The suffix without its plus sign.
        tuning: String,
    },
    /// The triple is not known, and the suffix does not describe a machine.
    #[error("`{word}` in {name} does not describe a machine: the words after the plus sign are {}", WORDS)]
    Description {
        /// The text.
        name: String,
        /// The first word that is wrong.
        word: String,
    },
}

/// A target. Two targets with one name are equal in everything.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    name: String,
    architecture: Architecture,
    level: Option<&'static Level>,
    features: Features,
    tuning: Tuning,
    machine: Machine,
}

impl Target {
    /// A machine of which nothing is known: vectors of 128 bits, no optional instruction.
    pub fn generic() -> Target {
        Target::other("unknown:generic".to_owned())
    }

    fn other(name: String) -> Target {
        let architecture = Architecture::Other;
        let (features, tuning, machine) = (Features::GENERIC, Tuning::GENERIC, Machine::GENERIC);
        Target { name, architecture, level: None, features, tuning, machine }
    }

    fn of_level(name: String, level: &'static Level, tuning: Tuning) -> Target {
        let (architecture, features) = (level.architecture, level.features);
        Target { name, architecture, level: Some(level), features, tuning, machine: Machine::GENERIC }
    }

    /// The GPU of this name (`sm_90`), of whichever family has it.
    pub fn gpu(processor: &str) -> Result<Target, TargetError> {
        match FAMILIES.iter().find(|family| (family.find)(processor).is_some()) {
            Some(family) => format!("{}:{processor}", family.triple).parse(),
            None => {
                let known: Vec<_> = FAMILIES.iter().map(|family| family.known).collect();
                Err(TargetError::Cpu { name: processor.to_owned(), known: known.join(", or ") })
            }
        }
    }

    /// The name, `triple:cpu` and perhaps a tuning; parsing it gives this target again.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// LLVM's name of the machine.
    pub fn triple(&self) -> &str {
        self.name.split_once(':').map_or(self.name.as_str(), |(triple, _)| triple)
    }

    /// LLVM's name of the processor, without tuning.
    pub fn cpu(&self) -> &str {
        let cpu = self.name.split_once(':').map_or("", |(_, cpu)| cpu);
        cpu.split_once('+').map_or(cpu, |(cpu, _)| cpu)
    }

    /// CPU and tuning, as in the name.
    pub fn cpu_and_tuning(&self) -> &str {
        self.name.split_once(':').map_or("", |(_, cpu)| cpu)
    }

    /// The family of instruction sets.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The row of the table of CPUs; `None` if it is no CPU of the table.
    pub fn level(&self) -> Option<&'static Level> {
        self.level
    }

    /// What the instruction set has.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// What is fast, and the caches.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// What the machine is like.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(name: &str) -> Result<Target, TargetError> {
        let Some((triple, cpu)) = name.split_once(':').filter(|(triple, cpu)| !triple.is_empty() && !cpu.is_empty())
        else {
            return Err(TargetError::Form(name.to_owned()));
        };
        let (plain, suffix) = cpu.split_once('+').map_or((cpu, None), |(plain, suffix)| (plain, Some(suffix)));
        let architecture = Architecture::of_triple(triple);
        let unknown = |known: String| TargetError::Cpu { name: name.to_owned(), known };
        let tuning = |suffix: &str| TargetError::Tuning { cpu: plain.to_owned(), tuning: suffix.to_owned() };
        match architecture {
            // A known family refuses what it does not know: code for such a processor would be a guess.
            Architecture::Other => match FAMILIES.iter().find(|family| family.triple == triple) {
                Some(family) => match ((family.find)(plain), suffix) {
                    (None, _) => Err(unknown(family.known.to_owned())),
                    (Some(_), Some(suffix)) => Err(tuning(suffix)),
                    (Some((features, machine)), None) => {
                        Ok(Target { features, machine, ..Target::other(name.to_owned()) })
                    }
                },
                // `stub:+simd64` describes a machine, but names no processor.
                None if plain.is_empty() => Err(TargetError::Form(name.to_owned())),
                None => {
                    // An unknown triple is that of a registered backend: its machine is what the name describes.
                    let wrong = |word: &str| TargetError::Description { name: name.to_owned(), word: word.to_owned() };
                    let machine =
                        suffix.map_or(Ok(Machine::GENERIC), |words| Machine::described(words).map_err(wrong))?;
                    Ok(Target { machine, ..Target::other(name.to_owned()) })
                }
            },
            Architecture::X86_64 | Architecture::AArch64 => {
                // Only LLVM's name is taken here, so that a target has one name; `cpu::named` takes those that people
                // give.
                let Some(level) = cpu::of(architecture).find(|l| l.cpu == plain) else {
                    let known: Vec<_> = cpu::of(architecture).map(|l| l.cpu).collect();
                    return Err(unknown(known.join(" or ")));
                };
                match suffix {
                    None => Ok(level.target()),
                    Some(suffix) => level.tuned(suffix).ok_or_else(|| tuning(suffix)),
                }
            }
        }
    }
}

impl Default for Target {
    fn default() -> Self {
        Target::generic()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

// All other fields follow from the name.
impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}

// Of the same field as equality, so that equal targets have equal hashes.
impl std::hash::Hash for Target {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl TryFrom<String> for Target {
    type Error = TargetError;

    fn try_from(name: String) -> Result<Target, TargetError> {
        name.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> String {
        target.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_survives_the_round_trip_through_its_name() {
        for level in LEVELS {
            let mut targets = vec![level.target()];
            targets.extend(level.tuned("intel"));
            for target in targets {
                assert_eq!(target.name().parse(), Ok(target.clone()));
                assert_eq!(target.level(), Some(level));
                assert_eq!((target.triple(), target.cpu()), (level.architecture.triple(), level.cpu));
                let bytes = postcard::to_stdvec(&target).unwrap();
                let back: Target = postcard::from_bytes(&bytes).unwrap();
                assert_eq!((back.features(), back.tuning()), (target.features(), target.tuning()), "{target}");
            }
        }
    }

    #[test]
    fn tuning_changes_what_is_fast_and_nothing_else() {
        let plain: Target = "x86_64-unknown-linux-gnu:x86-64-v4".parse().unwrap();
        let intel: Target = "x86_64-unknown-linux-gnu:x86-64-v4+intel".parse().unwrap();
        assert_eq!(plain.features(), intel.features());
        assert_eq!((plain.tuning().fast_gather, intel.tuning().fast_gather), (false, true));
        assert_eq!((intel.cpu(), intel.cpu_and_tuning()), ("x86-64-v4", "x86-64-v4+intel"));
        assert_ne!(plain, intel);
    }

    #[test]
    fn a_wrong_name_is_refused_with_what_would_be_right() {
        let refused = |name: &str| name.parse::<Target>().unwrap_err().to_string();
        assert!(refused("x86-64-v3").contains("expected triple:cpu"));
        assert!(refused(":x86-64-v3").contains("expected triple:cpu"));
        assert!(refused("x86_64-unknown-linux-gnu:").contains("expected triple:cpu"));
        assert!(refused("x86_64-unknown-linux-gnu:pentium").contains("x86-64-v2 or x86-64-v3 or x86-64-v4"));
        assert!(refused("x86_64-unknown-linux-gnu:x86-64-v3+intel").contains("`+intel` after x86-64-v3"));
        assert!(refused("x86_64-unknown-linux-gnu:x86-64-v4+amd").contains("`+amd`"));
        assert!(refused("nvptx64-nvidia-cuda:sm_20").contains("from 70 on"));
        let words = "the words after the plus sign are work-item, simdN, ";
        assert!(refused("stub:any+simd64,thing").contains("`thing` in stub:any+simd64,thing does not"));
        assert!(refused("stub:any+thing").contains(words));
        assert!(refused("stub:+simd64").contains("expected triple:cpu"));
        assert!(Target::gpu("gfx1100").unwrap_err().to_string().contains("from 70 on"));
        assert!(postcard::from_bytes::<Target>(&postcard::to_stdvec("nonsense").unwrap()).is_err());
    }

    #[test]
    fn an_unknown_triple_is_a_machine_of_which_nothing_is_known() {
        let stub: Target = "stub:any".parse().unwrap();
        assert_eq!((stub.architecture(), stub.level()), (Architecture::Other, None));
        assert_eq!((stub.triple(), stub.cpu(), stub.name()), ("stub", "any", "stub:any"));
        assert_eq!((stub.features(), stub.machine()), (Target::generic().features(), &Machine::GENERIC));
    }

    #[test]
    fn an_unknown_triple_may_describe_its_machine() {
        let stub: Target = "stub:any+work-item,simd64".parse().unwrap();
        assert_eq!((stub.triple(), stub.cpu(), stub.cpu_and_tuning()), ("stub", "any", "any+work-item,simd64"));
        assert_eq!((stub.machine().code_unit(), stub.machine().simd_group()), (CodeUnit::WorkItem, Some(64)));
        let back: Target = postcard::from_bytes(&postcard::to_stdvec(&stub).unwrap()).unwrap();
        assert_eq!((&back, back.machine()), (&stub, stub.machine()));
        assert_ne!(stub, "stub:any".parse().unwrap());
    }

    #[test]
    fn registers_are_as_many_as_the_instruction_set_has() {
        let of = |level: &Level| (level.name, level.features.vector_bits, level.features.vector_registers);
        let all: Vec<_> = LEVELS.iter().map(of).collect();
        assert_eq!(all, [("sse4.2", 128, 16), ("avx2", 256, 16), ("avx512", 512, 32), ("neon", 128, 32)]);
    }

    #[test]
    fn a_gpu_runs_work_items_in_lockstep_and_has_no_cpu_level() {
        let gpu: Target = "nvptx64-nvidia-cuda:sm_90".parse().unwrap();
        assert_eq!(Target::gpu("sm_90").as_ref(), Ok(&gpu));
        assert_eq!((gpu.architecture(), gpu.level()), (Architecture::Other, None));
        let machine = gpu.machine();
        assert_eq!((machine.code_unit(), machine.simd_group()), (CodeUnit::WorkItem, Some(32)));
        assert!(machine.has_generic_pointers());
        assert!("nvptx64-nvidia-cuda:sm_90+simd64".parse::<Target>().is_err());
    }

    #[test]
    fn the_code_of_a_cpu_runs_groups_whose_vectors_the_compiler_chooses() {
        for level in LEVELS {
            let machine = *level.target().machine();
            assert_eq!((machine.code_unit(), machine.simd_group()), (CodeUnit::WorkGroup, None));
        }
    }
}
