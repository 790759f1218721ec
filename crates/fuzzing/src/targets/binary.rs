//! Programs' binaries: `clCreateProgramWithBinary` accepts any bytes.

use super::{Reach, Target, compiler, programs, source};
use cloom_artifact::ProgramImage;
use cloom_compiler::Source;

/// See the file's head.
pub const TARGET: Target = Target { name: "binary", corpus, words: WORDS, mutated: true, gate: "loaded", run };

const WORDS: &[&str] = &["kernel", "func", "i32", "ptr<global>", "v1"];

fn corpus() -> Vec<Vec<u8>> {
    let build = |text: &Vec<u8>| {
        let built = compiler().build(&Source { name: "program.cl", text }, "-cl-std=CL3.0", super::cpu());
        built.result.ok().map(|program| program.encode())
    };
    let mut list: Vec<Vec<u8>> = programs().iter().filter_map(build).collect();
    // Nearly any change of a whole binary is caught by its checksum, so there are few. Inputs that begin so are the
    // contents of a binary whose frame and checksum are made right.
    let inner = |bytes: &Vec<u8>| Some([b"IR", ProgramImage::decode(bytes).ok()?.ir.as_bytes()].concat());
    let contents: Vec<Vec<u8>> = list.iter().filter_map(inner).collect();
    list.truncate(contents.len() / 8);
    list.extend(contents);
    list
}

fn run(input: &[u8]) -> Result<Reach, String> {
    let framed = input.strip_prefix(b"IR").map(|text| {
        let ir = String::from_utf8_lossy(text).into_owned();
        let kind = cloom_artifact::ImageKind::Executable;
        ProgramImage { kind, options: String::new(), arg_info: true, ir }.encode()
    });
    let bytes = framed.as_deref().unwrap_or(input);
    let Ok(program) = compiler().load(bytes) else { return Ok(Reach::Rejected) };
    if compiler().load(&program.encode()).map(|p| p.encode()) != Ok(program.encode()) {
        return Err("a loaded program does not survive its own binary".into());
    }
    source::kernels(&program)?;
    Ok(Reach::Accepted)
}
