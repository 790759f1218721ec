//! A program: verified IR with the options it was built with; linking, and the form as bytes.

use crate::{BuildOptions, Compilation, Failure, OptionSet, front};
use cloom_artifact::{DecodeError, ImageKind, ProgramImage};
use cloom_ir::{Flags, GlobalLinkage, KernelMeta, Linkage, Module, Op, parse, verify};
use std::fmt::Write;
use std::sync::Arc;

/// A compiled or linked program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    module: Module,
    kind: ImageKind,
    options: BuildOptions,
    options_text: String,
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
                    if let (Op::Alloca { size, align }, Some(p)) = (data.op.clone(), data.result)
                        && size > 0
                    {
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
        let options = sets.into_iter().find_map(|set| front::options(&image.options, set).ok());
        let (options, ..) = options.ok_or_else(|| LoadError::Invalid("its options are not understood".into()))?;
        // The binary's source positions are not trusted.
        let mut module = module;
        module.place_variables();
        Ok(Self { module, kind: image.kind, options, options_text: image.options })
    }
}

/// Links programs. An executable may leave no function and no constant undefined.
pub fn link(mut inputs: Vec<Arc<Program>>, kind: ImageKind, options: Option<&BuildOptions>) -> Compilation {
    let failed = |log: String| Compilation::failed(Failure::Program, log, Vec::new());
    let Some(first) = inputs.pop() else { return failed("error: there is nothing to link\n".into()) };
    let mut program = match inputs.is_empty() {
        // One program with its own options, the common case: nothing to do.
        true => Arc::unwrap_or_clone(first),
        false => {
            inputs.push(first);
            let first = &inputs[0];
            let mut module = Module::new();
            for input in &inputs {
                if let Err(e) = module.link(&input.module) {
                    return failed(format!("error: {e}\n"));
                }
            }
            // Kernels may call into every program, so that all must take partial groups.
            if !inputs.iter().all(|p| p.options.partial_groups()) {
                let kernels = module.funcs.values_mut().filter_map(|f| f.kernel.as_deref_mut());
                kernels.for_each(|meta| meta.partial_groups = false);
            }
            // An option that only makes code slower applies to all programs if one of them has it. On other options all
            // programs must agree.
            let mut merged = first.options.clone();
            merged.opt_disable = inputs.iter().any(|p| p.options.opt_disable);
            merged.denorms_are_zero = inputs.iter().all(|p| p.options.denorms_are_zero);
            let text = inputs.iter().map(|p| p.options_text.as_str()).max_by_key(|t| t.len()).unwrap_or_default();
            Program::new(module, kind, merged, text.to_owned())
        }
    };
    program.kind = kind;
    if options.is_some_and(|o| o.denorms_are_zero) {
        program.options.denorms_are_zero = true;
    }
    if kind == ImageKind::Executable {
        let undefined = undefined(&program.module);
        if !undefined.is_empty() {
            let mut log = String::new();
            for name in undefined {
                // Writing to a string cannot fail.
                let _ = writeln!(log, "error: {name} but defined nowhere");
            }
            return failed(log);
        }
        program.module.place_variables();
    }
    Compilation { result: Ok(Arc::new(program)), log: String::new(), diagnostics: Vec::new(), times: Vec::new() }
}

/// Undefined symbols: functions that are called and constants that are used.
fn undefined(module: &Module) -> Vec<String> {
    let called: std::collections::HashSet<_> = module.funcs.values().flat_map(cloom_ir::Function::callees).collect();
    let funcs = module
        .funcs
        .iter()
        .filter(|(r, f)| f.is_declaration() && f.linkage != Linkage::Builtin && called.contains(r))
        .map(|(_, f)| format!("`{}` is called", f.name));
    let globals = module.globals.values().filter(|g| g.linkage == GlobalLinkage::Import);
    funcs.chain(globals.map(|g| format!("the variable `{}` is declared", g.name))).collect()
}
