//! `link` and `library`: compiled programs and libraries to a program binary that can run, or to a library, by the
//! rules of clLinkProgram.

use crate::built::{Document, Output};
use crate::compile;
use crate::options::BuildOptions;
use crate::outcome::{Answer, Failure};
use crate::source;
use cloom_compiler::{Compiler, ImageKind, Program};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of `link`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Options of the linker stand as they are: cloom link a.clo lib.clbin -o program.clbin -cl-denorms-are-zero.
They count for a library only if that was made with -enable-link-options."
)]
pub struct Options {
    /// What `cloom compile -c` or clCompileProgram made, and libraries
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Writes the result here; - is the standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    build: BuildOptions,
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// Runs `link`, or `library`.
pub fn run(options: &Options, library: bool) -> Result<Answer, Failure> {
    let compiler = compile::compiler();
    let parts = options.files.iter().map(|file| load(&compiler, file)).collect::<Result<Vec<_>, _>>()?;
    let mut text = options.build.text();
    if library {
        text = format!("-create-library {text}");
    }
    let linked = compiler.link(&parts, text.trim_end());
    let program = match &linked.result {
        Ok(program) => program,
        Err(kind) => return Document::failed(&linked, *kind).answer(options.json),
    };
    let data = program.encode();
    let output = match options.output.as_path() {
        path if path == Path::new("-") => Output::Stdout(data),
        path => Output::file(path.to_owned(), &data)?,
    };
    Document::of(program, linked.log.clone(), output).answer(options.json)
}

/// A program that can be linked.
fn load(compiler: &Compiler, path: &Path) -> Result<Arc<Program>, Failure> {
    let file = source::read(path)?;
    let refuse = |why: &str| Failure::wrong(format!("{}: {why}", file.name));
    if !file.is_program() {
        return Err(refuse("not compiled yet; compile it with `cloom compile -c`"));
    }
    let program = file.load(compiler)?;
    if program.kind() == ImageKind::Executable {
        return Err(refuse("linked already; compile its source with `cloom compile -c`"));
    }
    Ok(program)
}
