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
