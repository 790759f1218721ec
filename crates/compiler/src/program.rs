//! A program: verified IR with the options it was built with, and its form as bytes.

use crate::options;
use cloom_artifact::{DecodeError, ImageKind, ProgramImage};
use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_ir::{Flags, KernelMeta, Module, Op, parse, verify};

/// A compiled or linked program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    pub(crate) module: Module,
    pub(crate) kind: ImageKind,
    pub(crate) options: BuildOptions,
    pub(crate) options_text: String,
}

/// Why bytes cannot be decoded as a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// Not a binary of Cloom's, or damaged.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// A binary whose checksum is right and whose contents are not.
    #[error("the binary holds an invalid program: {0}")]
    Invalid(String),
}

impl Program {
    /// A program of verified IR.
    pub(crate) fn new(module: Module, kind: ImageKind, options: BuildOptions, options_text: String) -> Self {
        Self { module, kind, options, options_text }
    }

    /// The IR.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Whether it is compiled, a library or an executable.
    pub fn kind(&self) -> ImageKind {
        self.kind
    }

    /// The parsed options.
    pub fn options(&self) -> &BuildOptions {
        &self.options
    }

    /// The options as they were written.
    pub fn options_text(&self) -> &str {
        &self.options_text
    }

    /// Name and description of each kernel that the host sees, in order of definition.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &KernelMeta)> {
        self.all_kernels().filter(|(_, meta)| !meta.is_block)
    }

    /// Name and description of each kernel, also of the kernels made from blocks.
    pub fn all_kernels(&self) -> impl Iterator<Item = (&str, &KernelMeta)> {
        self.module.kernels().filter_map(|k| {
            let func = &self.module.funcs[k];
            Some((func.name.as_str(), func.kernel.as_deref()?))
        })
    }

    /// The same program with private memory that begins as zeros (`cl_khr_initialize_memory`).
    #[must_use]
    pub fn with_zeroed_private(&self) -> Program {
        let mut program = self.clone();
        for func in program.module.funcs.values_mut() {
            for block in func.blocks.keys().collect::<Vec<_>>() {
                let old = std::mem::take(&mut func.blocks[block].insts);
                for inst in old {
                    func.blocks[block].insts.push(inst);
                    let data = &func.insts[inst];
                    if let (&Op::Alloca { size, align, .. }, Some(p)) = (&data.op, data.result)
                        && size > 0
                    {
                        // Directly behind the allocation, where no use can come before it.
                        let op = Op::MemSet { size, byte: 0, align };
                        let zeros = func.make_inst(op, [p].into_iter().collect(), None, Flags::empty(), data.span);
                        func.blocks[block].insts.push(zeros);
                    }
                }
            }
        }
        program
    }

    /// The bytes for `CL_PROGRAM_BINARIES`. A binary computes the same on every machine: the decision on contraction
    /// was made here and stays, even where that is slow.
    pub fn encode(&self) -> Vec<u8> {
        ProgramImage {
            kind: self.kind,
            options: self.options_text.clone(),
            arg_info: true,
            ir: self.module.to_string(),
        }
        .encode()
    }

    /// From untrusted bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, LoadError> {
        let image = ProgramImage::decode(bytes)?;
        let module = parse(&image.ir).map_err(|e| LoadError::Invalid(e.to_string()))?;
        if let Some(e) = verify(&module).first() {
            return Err(LoadError::Invalid(e.to_string()));
        }
        // Options of any build call are accepted here, although each call accepts fewer.
        let sets = [OptionSet::Build, OptionSet::Compile, OptionSet::Link];
        let options = sets.into_iter().find_map(|set| options::parse(&image.options, set).ok());
        let (options, ..) = options.ok_or_else(|| LoadError::Invalid("its options are not understood".into()))?;
        // The places of variables that the text gives are not trusted: they may overlap, or be so far apart that no
        // memory has room for them.
        let mut module = module;
        module.place_variables();
        Ok(Self { module, kind: image.kind, options, options_text: image.options })
    }
}
