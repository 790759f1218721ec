//! The interface between runtime and compiler, and its implementation by Cloom's compiler. Tests implement it with
//! another one.

use cloom_artifact::{ImageKind, KernelArtifact};
use cloom_caps::DeviceCaps;
use cloom_compiler as compiler;
pub use cloom_compiler::{Diagnostic, Variant};
use cloom_ir::KernelMeta;
use cloom_target::Target;
use std::any::Any;
use std::sync::Arc;

/// A header given by the application, for `clCompileProgram`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its name in `#include`.
    pub name: String,
    /// The text.
    pub text: Vec<u8>,
}

/// The input of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct CompileInput<'a> {
    /// The source.
    pub source: &'a [u8],
    /// The option string.
    pub options: &'a str,
    /// Embedded headers.
    pub headers: &'a [Header],
    /// The target of the code. The program runs on other targets too, but may be slower.
    pub target: &'a Target,
    /// What the device offers, each extension and feature of which is a macro.
    pub caps: &'a DeviceCaps,
}

/// A kernel of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelDescription {
    /// Its name.
    pub name: String,
    /// Its metadata.
    pub meta: KernelMeta,
}

/// Which part of a build went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The options.
    Options,
    /// The source, or linking.
    Program,
}

/// A failed build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The log.
    pub report: Report,
}

/// The report of a build.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The build log.
    pub log: String,
    /// The diagnostics in it, as data.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// A report of text alone.
    pub fn text(log: impl Into<String>) -> Report {
        Report { log: log.into(), diagnostics: Vec::new() }
    }
}

/// A compiled program.
pub trait Unit: Send + Sync + Any {
    /// What it can be used for.
    fn kind(&self) -> ImageKind;
    /// Its kernels, in order of definition.
    fn kernels(&self) -> Vec<KernelDescription>;
    /// As a binary.
    fn encode(&self) -> Vec<u8>;
    /// The options it was built with.
    fn options(&self) -> String;
}

/// A linked program on a target.
pub trait Executable: Send + Sync {
    /// Prefetch compilation: a kernel will probably be launched. Returns whether its code is being compiled in the
    /// background.
    fn prefetch(&self, name: &str, variant: Variant) -> bool;
    /// A kernel's code; compiles it if necessary.
    fn kernel(&self, name: &str, variant: Variant) -> Result<Arc<KernelArtifact>, String>;
    /// A kernel's code if it exists, without waiting.
    fn try_kernel(&self, name: &str, variant: Variant) -> Option<Arc<KernelArtifact>>;
    /// Code of the baseline tier, while the optimised code is compiled in the background; `None` if that exists, or is
    /// not being compiled.
    fn baseline_kernel(&self, name: &str) -> Option<Arc<KernelArtifact>>;
    /// The remarks on all kernels for the build log; empty unless they are enabled.
    fn remarks(&self) -> String;
}

/// A program and what its build had to say.
pub type Outcome = Result<(Arc<dyn Unit>, Report), Failure>;

/// A compiler.
pub trait Toolchain: Send + Sync {
    /// Compiles and links one source.
    fn build(&self, input: &CompileInput<'_>) -> Outcome;
    /// Compiles one source.
    fn compile(&self, input: &CompileInput<'_>) -> Outcome;
    /// Checks link options before the inputs are checked.
    fn link(&self, inputs: &[Arc<dyn Unit>], options: &str) -> Outcome;
    /// Reads an untrusted binary.
    fn load(&self, bytes: &[u8]) -> Result<Arc<dyn Unit>, String>;
    /// Gets a linked program ready for a target.
    fn executable(&self, unit: &Arc<dyn Unit>, target: &Target) -> Result<Arc<dyn Executable>, String>;
}

/// Cloom's compiler.
pub struct Cloom(Arc<compiler::Compiler>);

impl Cloom {
    /// With this configuration.
    pub fn with(config: compiler::Config) -> Arc<dyn Toolchain> {
        Arc::new(Cloom(compiler::Compiler::new(config)))
    }

    /// With the configuration from the environment.
    pub fn from_env() -> Arc<dyn Toolchain> {
        for warning in compiler::passes::warnings() {
            eprintln!("cloom: {warning}");
        }
        Cloom::with(compiler::Config::from_env())
    }

    /// A compiler that the caller made, perhaps with other backends.
    pub fn with_compiler(compiler: Arc<compiler::Compiler>) -> Arc<dyn Toolchain> {
        Arc::new(Cloom(compiler))
    }
}

struct CloomUnit(Arc<compiler::Program>);

impl Unit for CloomUnit {
    fn kind(&self) -> ImageKind {
        self.0.kind()
    }

    fn kernels(&self) -> Vec<KernelDescription> {
        self.0.kernels().map(|(name, meta)| KernelDescription { name: name.to_owned(), meta: meta.clone() }).collect()
    }

    fn encode(&self) -> Vec<u8> {
        self.0.encode()
    }

    fn options(&self) -> String {
        self.0.options_text().to_owned()
    }
}

struct CloomExecutable(Arc<compiler::Executable>);

impl Executable for CloomExecutable {
    fn prefetch(&self, name: &str, variant: Variant) -> bool {
        self.0.prefetch_kernel(name, variant)
    }

    fn kernel(&self, name: &str, variant: Variant) -> Result<Arc<KernelArtifact>, String> {
        self.0.kernel(name, variant).map(|built| built.artifact.clone()).map_err(|e| e.to_string())
    }

    fn try_kernel(&self, name: &str, variant: Variant) -> Option<Arc<KernelArtifact>> {
        self.0.try_kernel(name, variant).map(|built| built.artifact.clone())
    }

    fn baseline_kernel(&self, name: &str) -> Option<Arc<KernelArtifact>> {
        self.0.baseline_kernel(name)
    }

    fn remarks(&self) -> String {
        self.0.remarks()
    }
}

/// The compiler's program of a unit.
fn program(unit: &Arc<dyn Unit>) -> Option<&Arc<compiler::Program>> {
    let any: &dyn Any = &**unit;
    any.downcast_ref::<CloomUnit>().map(|u| &u.0)
}

const FOREIGN: &str = "the program was made by another compiler";

fn outcome(compilation: compiler::Compilation) -> Outcome {
    let report = Report { log: compilation.log, diagnostics: compilation.diagnostics };
    match compilation.result {
        Ok(program) => Ok((Arc::new(CloomUnit(program)), report)),
        Err(failure) => Err(Failure {
            kind: match failure {
                compiler::Failure::Options => FailureKind::Options,
                compiler::Failure::Program => FailureKind::Program,
            },
            report,
        }),
    }
}

/// What messages call a source that came as text.
const SOURCE_NAME: &str = "program.cl";

fn target<'a>(input: &CompileInput<'a>) -> compiler::BuildTarget<'a> {
    compiler::BuildTarget { target: input.target, caps: input.caps }
}

impl Toolchain for Cloom {
    fn build(&self, input: &CompileInput<'_>) -> Outcome {
        let source = compiler::Source { name: SOURCE_NAME, text: input.source };
        outcome(self.0.build(&source, input.options, target(input)))
    }

    fn compile(&self, input: &CompileInput<'_>) -> Outcome {
        let source = compiler::Source { name: SOURCE_NAME, text: input.source };
        let header = |h: &Header| compiler::Header { name: h.name.clone(), text: h.text.clone() };
        let headers: Vec<compiler::Header> = input.headers.iter().map(header).collect();
        outcome(self.0.compile(&source, input.options, &headers, target(input)))
    }

    fn link(&self, inputs: &[Arc<dyn Unit>], options: &str) -> Outcome {
        let programs: Option<Vec<_>> = inputs.iter().map(|u| program(u).cloned()).collect();
        match programs {
            Some(programs) => outcome(self.0.link(&programs, options)),
            None => Err(Failure { kind: FailureKind::Program, report: Report::text(FOREIGN) }),
        }
    }

    fn load(&self, bytes: &[u8]) -> Result<Arc<dyn Unit>, String> {
        let program = self.0.load(bytes).map_err(|e| e.to_string())?;
        Ok(Arc::new(CloomUnit(program)))
    }

    fn executable(&self, unit: &Arc<dyn Unit>, target: &Target) -> Result<Arc<dyn Executable>, String> {
        let program = program(unit).ok_or(FOREIGN)?;
        Ok(Arc::new(CloomExecutable(self.0.executable(program, target))))
    }
}
