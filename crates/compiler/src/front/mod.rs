//! The front ends with their surroundings: included files, option errors, and verification of their output.

mod includes;
mod kept;
mod source;

pub use includes::{Header, IncludeRules};
pub use source::{Il, Source};

use crate::cache::Cache;
use crate::compilation::{Compilation, Failure};
use crate::diagnostic;
use crate::options::{self, Log};
use crate::program::Program;
use crate::stage::Timing;
use cloom_artifact::ImageKind;
use cloom_caps::DeviceCaps;
use cloom_clc::layout::KernelLayout;
use cloom_clc::options::{BuildOptions, ClStd, OptionSet};
use cloom_clc::pp::IncludeResolver;
use cloom_clc::{Input, Mode};
use cloom_ir::Module;
use cloom_target::Target;
use includes::Resolver;
use kept::Kept;
use std::sync::Arc;
use std::time::Instant;

/// A source with most constructs that kernels usually have.
pub const TYPICAL: &[u8] = b"
#define SIDE 16
uint colour(uint n, float2 z) { return n > 8 ? as_uint(convert_uchar4_sat(z.xyxy * 9.0f)) : n * 5 % 512; }
kernel void typical(global uint *out, global const float4 *in, local float *tile, float left, uint width) {
    const int x = get_global_id(0), y = get_local_id(1);
    float2 z = (float2)(left, in[x].y);
    tile[y * SIDE] = sqrt(z.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = 0; n < width; n++) {
        if (z.x * z.x > 4.0f) break;
        z += tile[y ^ 1] * z.yx;
    }
    out[y * width + x] = colour(x, z);
}
";

/// Target and device of a program: they decide about contraction and the predefined macros.
#[derive(Clone, Copy, Debug)]
pub struct BuildTarget<'a> {
    /// What code is made for.
    pub target: &'a Target,
    /// What the device offers.
    pub caps: &'a DeviceCaps,
}

impl<'a> From<&'a Target> for BuildTarget<'a> {
    /// A device that offers everything.
    fn from(target: &'a Target) -> Self {
        BuildTarget { target, caps: DeviceCaps::full() }
    }
}

/// Compiles a source. Its target decides only whether `a * b + c` is contracted, and a macro.
pub fn compile(
    source: &Source<'_>,
    text: &str,
    set: OptionSet,
    includes: IncludeRules<'_>,
    target: BuildTarget<'_>,
    cache: Option<&Cache>,
) -> Compilation {
    let (build, warnings, mut diagnostics) = match options::parse(text, set) {
        Ok(parsed) => parsed,
        Err((log, diagnostics)) => return Compilation::failed(Failure::Options, log, diagnostics),
    };
    let mut resolver = Resolver::new(includes, &build.include_dirs);
    let target = front_target(target);
    let kept = cache.and_then(|cache| Kept::of(cache, source, text, &target));
    let since = Instant::now();
    // (A source of 480 lines takes 2.1 ms through the front end, and 0.23 from the cache.)
    let (module, (log, found), times) = match kept.as_ref().and_then(|kept| kept.get(&resolver)) {
        Some(module) => (Some(module), Log::default(), vec![Timing::new("cache", since.elapsed())]),
        None => {
            let (module, (log, found), times) = run(source, &build, &mut resolver, &target);
            // Warnings are not in the entry: a source that has any goes through the front end each time.
            if let (Some(module), Some(kept), true) = (&module, &kept, log.is_empty()) {
                kept.put(&resolver, module);
            }
            (module, (log, found), times)
        }
    };
    diagnostics.extend(found);
    let result = module
        .ok_or(Failure::Program)
        .map(|module| Arc::new(Program::new(module, ImageKind::Object, build, text.to_owned())));
    Compilation { result, log: warnings + &log, diagnostics, times }
}

/// The files that a source includes, directly or not, each once. None if the options are wrong.
pub fn included(source: &Source<'_>, text: &str, includes: IncludeRules<'_>, target: BuildTarget<'_>) -> Vec<String> {
    let found = [OptionSet::Build, OptionSet::Compile].into_iter().find_map(|set| options::parse(text, set).ok());
    let Some((build, ..)) = found else { return Vec::new() };
    let mut headers = Resolver::new(includes, &build.include_dirs);
    let target = front_target(target);
    let input =
        Input { name: source.name, source: source.text, headers: &mut headers, options: &build, target: &target };
    let output = cloom_clc::compile(input, Mode::User);
    let mut names: Vec<String> = Vec::new();
    for file in output.sources.files().iter().filter(|f| f.included_from.is_some()) {
        if !names.contains(&file.name) {
            names.push(file.name.clone());
        }
    }
    names
}

/// How the arguments of a source's kernels lie in memory. None if the source or the options are wrong.
pub fn kernel_layouts(
    source: &Source<'_>,
    text: &str,
    includes: IncludeRules<'_>,
    target: BuildTarget<'_>,
) -> Vec<KernelLayout> {
    let Ok((build, ..)) = options::parse(text, OptionSet::Build) else { return Vec::new() };
    let mut headers = Resolver::new(includes, &build.include_dirs);
    let target = front_target(target);
    let input =
        Input { name: source.name, source: source.text, headers: &mut headers, options: &build, target: &target };
    cloom_clc::kernel_layouts(input)
}

/// Compiles a module of SPIR-V. Options that are about source do nothing.
pub fn compile_il(
    il: Il<'_>,
    text: &str,
    set: OptionSet,
    target: BuildTarget<'_>,
    cache: Option<&Cache>,
) -> Compilation {
    let (mut build, log, diagnostics) = match options::parse(text, set) {
        Ok(parsed) => parsed,
        Err((log, diagnostics)) => return Compilation::failed(Failure::Options, log, diagnostics),
    };
    // The rules of OpenCL 3.0 apply, such as those for partial groups. The options' text shows this to a reader of the
    // binary.
    build.std = Some(ClStd::Cl3_0);
    let since = Instant::now();
    let front = front_target(target);
    let kept = cache.and_then(|cache| Kept::of_il(cache, il, text, &front));
    let nothing = &Resolver::new(IncludeRules::default(), &[]);
    let (stage, result) = match kept.as_ref().and_then(|kept| kept.get(nothing)) {
        Some(module) => ("cache", Ok(module)),
        None => {
            let Il { binary, constants } = il;
            let module =
                cloom_spirv::compile(cloom_spirv::Input { binary, constants, options: &build, target: &front });
            if let (Ok(module), Some(kept)) = (&module, &kept) {
                // SPIR-V includes nothing, so that the entry lists no files.
                kept.put(nothing, module);
            }
            ("spirv", module)
        }
    };
    let times = vec![Timing::new(stage, since.elapsed())];
    match result {
        Ok(module) => {
            let text = format!("{text} -cl-std=CL3.0").trim_start().to_owned();
            let program = Program::new(module, ImageKind::Object, build, text);
            Compilation { result: Ok(Arc::new(program)), log, diagnostics, times }
        }
        Err(why) => {
            let log = format!("{log}error: {why}\n");
            Compilation { times, ..Compilation::failed(Failure::Program, log, diagnostics) }
        }
    }
}

/// The front ends' description of a target.
pub fn front_target(target: BuildTarget<'_>) -> cloom_clc::Target {
    let contracts = target.target.features().fma;
    let fpmath = target.target.machine().divides_slowly();
    cloom_clc::Target { fma: contracts, fpmath, ..cloom_clc::Target::of(target.caps) }
}

fn run(
    source: &Source<'_>,
    options: &BuildOptions,
    headers: &mut (dyn IncludeResolver + Send),
    target: &cloom_clc::Target,
) -> (Option<Module>, Log, Vec<Timing>) {
    let input = Input { name: source.name, source: source.text, headers, options, target };
    let output = cloom_clc::compile(input, Mode::User);
    let log = output.log();
    let mut times: Vec<Timing> = output.times.iter().map(|&(name, time)| Timing::new(name, time)).collect();
    let diagnostics = diagnostic::collect(&output.sources, &output.diagnostics);
    let Some(module) = output.module else { return (None, (log, diagnostics), times) };
    let since = Instant::now();
    // The front end's output is verified: an error there is reported as a bug and not passed on.
    let wrong =
        cloom_ir::verify(&module).first().map(|e| format!("{log}error: the front end made invalid code: {e}\n"));
    times.push(Timing::new("verify", since.elapsed()));
    match wrong {
        None => (Some(module), (log, diagnostics), times),
        Some(log) => (None, (log, diagnostics), times),
    }
}
