//! Every program of the language tests compiles without a finding, and the module that comes out is well formed.

use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::pp::NoIncludes;
use cloom_clc::source::Diagnostics;
use cloom_clc::{Input, Mode, Output, Target, compile};
use std::path::{Path, PathBuf};

fn build(name: &str, source: &[u8], options: &str, mode: Mode) -> Output {
    let options = BuildOptions::parse(options, OptionSet::Build, &mut Diagnostics::default());
    let target = Target::default();
    compile(Input { name, source, headers: &mut NoIncludes, options: &options, target: &target }, mode)
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(list) = std::fs::read_dir(folder) else { return };
    for entry in list {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "cl") {
            out.push(path);
        }
    }
    out.sort();
}

#[test]
fn programs_of_the_language_compile() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../filetest/run"), &mut files);
    assert!(files.len() > 10, "the programs are not where they were");
    let mut wrong = String::new();
    for path in files {
        let source = std::fs::read(&path).unwrap();
        let output = build(&path.file_name().unwrap().to_string_lossy(), &source, "", Mode::User);
        match &output.module {
            None => wrong += &output.log(),
            Some(module) => {
                for e in cloom_ir::verify::verify(module) {
                    wrong += &format!("{}: {e}\n", path.display());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The kernels of real programs say what they mean: warnings about values that are not used, or extensions, would be
/// wrong there. (Some need macros from their hosts; what they lack gives errors, which do not matter here.)
#[test]
fn kernels_of_programs_have_no_new_warnings() {
    let mut files = Vec::new();
    for folder in ["../gallery/kernels", "../filetest/run/lanes", "../filetest/run/args", "../filetest/groups"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    assert!(files.len() > 60, "the programs are not where they were");
    for path in files {
        let source = std::fs::read(&path).unwrap();
        let output = build(&path.file_name().unwrap().to_string_lossy(), &source, "-cl-std=CL3.0", Mode::User);
        let found = output.diagnostics.iter().find(|d| ["W0304", "W0308", "W0309"].contains(&d.code));
        assert!(found.is_none(), "{}", output.log());
    }
}
