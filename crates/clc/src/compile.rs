//! The whole front end: preprocess, parse, analyse, lower; from the bytes of a source to a module of the IR and
//! diagnostics.

use crate::layout::{self, KernelLayout};
use crate::lower::{LowerOptions, lower};
use crate::options::BuildOptions;
use crate::pp::{IncludeResolver, PpOptions, limits, preprocess};
use crate::sema::{SemaOptions, analyse};
use crate::source::{Diagnostic, Diagnostics, Session, SourceMap};
use crate::stack::with_deep_stack;
use crate::syntax::{Depth, ParseOptions, parse};
use cloom_caps::{DeviceCaps, feature, image};
use cloom_ir::{Flags, Module};
use std::time::{Duration, Instant};

/// The device's features.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Extensions and features, each also a macro.
    pub features: Vec<String>,
    /// `double`
    pub fp64: bool,
    /// Arithmetic on `half`.
    pub fp16: bool,
    /// Images.
    pub images: bool,
    /// Multiplies and adds `float` and `double` in one instruction. If it does not, nothing is contracted: rounding
    /// once would take 20 times as long as rounding twice.
    pub fma: bool,
    /// Correctly rounded quotients and square roots of `float` take much longer than those that OpenCL C asks for.
    pub fpmath: bool,
}

impl Default for Target {
    /// Every feature.
    fn default() -> Self {
        Self::of(DeviceCaps::full())
    }
}

impl Target {
    /// The features of a device by its capabilities; without `fma` and `fpmath`, which depend on the code generator.
    pub fn of(caps: &DeviceCaps) -> Self {
        let features: Vec<String> = caps.macros().map(str::to_owned).collect();
        let has = |name: &str| features.iter().any(|f| f == name);
        let [fp64, fp16, images] = ["cl_khr_fp64", "cl_khr_fp16", feature::IMAGES].map(has);
        Self { fp64, fp16, images, fma: false, fpmath: false, features }
    }
}

/// The purpose of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A program of an application.
    User,
    /// A file of the built-in library: its definitions of built-in names are those functions, `__cl_…` is visible, and
    /// nothing is contracted, so that it computes the same on every device.
    Library,
}

/// The source.
pub struct Input<'a> {
    /// The name shown in messages.
    pub name: &'a str,
    /// The source.
    pub source: &'a [u8],
    /// Where included files come from.
    pub headers: &'a mut (dyn IncludeResolver + Send),
    /// Build options.
    pub options: &'a BuildOptions,
    /// The device.
    pub target: &'a Target,
}

/// The result.
#[derive(Debug)]
pub struct Output {
    /// The program; `None` if there are errors.
    pub module: Option<Module>,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
    /// The files that the findings refer to.
    pub sources: SourceMap,
    /// The time of each stage; stages after an error are missing.
    pub times: Vec<(&'static str, Duration)>,
}

impl Output {
    /// The findings as text.
    pub fn log(&self) -> String {
        crate::render(&self.sources, &self.diagnostics)
    }
}

/// Compiles a source. Errors are diagnostics; it does no input or output.
pub fn compile(input: Input<'_>, mode: Mode) -> Output {
    with_deep_stack(move |depth| run(input, mode, depth, None))
}

/// How the arguments of a program's kernels lie in memory; nothing if the source has errors.
pub fn kernel_layouts(input: Input<'_>) -> Vec<KernelLayout> {
    with_deep_stack(move |depth| {
        let mut layouts = Vec::new();
        run(input, Mode::User, depth, Some(&mut layouts));
        layouts
    })
}

fn run(input: Input<'_>, mode: Mode, depth: Depth, layouts: Option<&mut Vec<KernelLayout>>) -> Output {
    let Input { name, source, headers, options, target } = input;
    let mut session = Session::default();
    session.diags.silence_warnings(options.no_warnings);
    session.diags.warnings_are_errors(options.warnings_are_errors);
    let Some(file) = session.sources.add(name, source, None) else {
        session.diags.push(Diagnostic::error_nowhere("E0100", "the source is too large"));
        return Output { module: None, diagnostics: session.diags, sources: session.sources, times: Vec::new() };
    };
    let mut times = Vec::with_capacity(4);
    let mut since = Instant::now();
    // Each call ends the stage that it names.
    let mut stage = |name| {
        times.push((name, since.elapsed()));
        since = Instant::now();
    };
    // Without `-cl-std`, the language is OpenCL C 1.2.
    let c_version = options.std.map_or(120, super::options::ClStd::number);
    // With SSE 4.2 alone, a Mandelbrot kernel takes 849 ms with emulated fused operations and 86 ms without.
    let contract = mode == Mode::User && target.fma;
    let fpmath = mode == Mode::User && target.fpmath && !options.correctly_rounded_divide_sqrt;
    // Features that change what older versions mean.
    let newer = |feature| mode == Mode::User && c_version >= 200 && target.features.iter().any(|f| f == feature);
    let (has_generic, has_variables) = (newer(feature::GENERIC_ADDRESS_SPACE), newer(feature::PROGRAM_SCOPE_VARIABLES));
    let has_pipes = newer(feature::PIPES);
    // `enqueue_kernel` takes its events through generic pointers.
    let has_blocks = newer(feature::DEVICE_ENQUEUE) && has_generic;
    let fast_fma: &[(&str, &str)] = if target.fma { &[("FP_FAST_FMAF", "1"), ("FP_FAST_FMA", "1")] } else { &[] };
    let of_images = [cloom_builtins::SAMPLER_CONSTANTS, image::order::MACROS, image::channel::MACROS];
    let images = of_images.into_iter().filter(|_| target.images).flatten();
    let halves = if target.fp16 { cloom_builtins::HALF_CONSTANTS } else { &[] };
    // Gives a value to an atomic variable of program scope.
    let init: &[(&str, &str)] = if has_variables { &[("ATOMIC_VAR_INIT(value)", "(value)")] } else { &[] };
    let enqueue = if has_blocks { crate::sema::ENQUEUE_CONSTANTS } else { &[] };
    let pipes: &[(&str, &str)] = if has_pipes { &[("CLK_NULL_RESERVE_ID", "((reserve_id_t)0)")] } else { &[] };
    let constants = cloom_builtins::CONSTANTS.iter().chain(enqueue).chain(fast_fma).chain(images);
    let constants = constants.chain(halves).chain(init).chain(pipes);
    // Programs that ask for them by their macros then use them, which older versions do not allow.
    let hidden = |f: &str| {
        let newer = [
            (has_generic, feature::GENERIC_ADDRESS_SPACE),
            (has_variables, feature::PROGRAM_SCOPE_VARIABLES),
            (has_pipes, feature::PIPES),
            (has_blocks, feature::DEVICE_ENQUEUE),
        ];
        newer.into_iter().any(|(has, name)| !has && f == name)
    };
    let pp = PpOptions {
        c_version,
        features: target.features.iter().filter(|f| !hidden(f)).cloned().collect(),
        predefined: constants.map(|&(n, t)| (n.to_owned(), t.to_owned())).collect(),
        images: target.images,
        fast_relaxed_math: options.fast_relaxed_math,
        macros: options.macros.clone(),
        // The expansion of arguments recurses on the same stack.
        nesting: if depth == Depth::DEEP { limits::DEEP_NESTING } else { limits::NESTING },
        ..PpOptions::default()
    };
    let tokens = preprocess(&mut session, file, &pp, headers);
    stage("preprocess");
    let unit = parse(&mut session, &tokens, ParseOptions { c_version, blocks: has_blocks, depth });
    // Of a large source, each form is a few hundred bytes a statement: there are two at a time.
    drop(tokens);
    stage("parse");
    let sema = SemaOptions {
        library: mode == Mode::Library,
        generic: has_generic,
        variables: has_variables,
        blocks: has_blocks,
        debug_info: options.debug_info,
        fp16: target.fp16,
        partial_groups: options.partial_groups(),
        fp64: target.fp64,
        images: target.images,
        pipes: has_pipes,
        features: target.features.clone(),
        single_precision_constant: options.single_precision_constant,
        contract,
        c_version,
    };
    let (typed, types) = analyse(&mut session, &unit, sema);
    drop(unit);
    stage("sema");
    if let Some(layouts) = layouts
        && !session.diags.has_errors()
    {
        *layouts = layout::of_kernels(&session, &typed, &types);
    }
    let module = if session.diags.has_errors() {
        None
    } else {
        Some(lower(
            &session,
            &typed,
            &types,
            LowerOptions { fast_math: fast_math(options), contract, fpmath, marks: options.check },
        ))
    };
    drop(typed);
    stage("lower");
    Output { module, diagnostics: session.diags, sources: session.sources, times }
}

/// The permissions that the options give to floating-point instructions.
pub fn fast_math(options: &BuildOptions) -> Flags {
    let mut flags = Flags::empty();
    // `-cl-mad-enable` has no flag: products and sums are contracted wherever the target has the instruction.
    if options.fast_relaxed_math || options.finite_math_only {
        flags |= Flags::NNAN | Flags::NINF;
    }
    if options.fast_relaxed_math || options.unsafe_math {
        flags |= Flags::NSZ | Flags::ARCP | Flags::REASSOC | Flags::AFN;
    }
    if options.no_signed_zeros {
        flags |= Flags::NSZ;
    }
    flags
}
