//! What is mutated: programs of the generator, and kernels of the gallery with the launches of `gallery.txt`.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::case::{CaseArg, NdRange};
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::{header, program};
use cloom_ir::Module;
use cloom_target::Target;
use std::path::Path;
use std::sync::Arc;

/// A kernel and a launch of it.
pub struct Kernel {
    /// What a report calls it.
    pub title: String,
    /// With the marks for the checker, and all that it calls.
    pub module: Module,
    pub name: String,
    pub range: NdRange,
    pub args: Vec<CaseArg>,
}

/// Compiles kernels.
pub struct Corpus {
    compiler: Arc<Compiler>,
    target: Target,
}

impl Corpus {
    pub fn new() -> Corpus {
        Corpus { compiler: Compiler::new(Config::default()), target: Target::generic() }
    }

    fn compile(&self, source: &str, options: &str, name: &str) -> Result<Module, String> {
        let options = format!("{options} -cloom-check");
        Ok(program::compile(&self.compiler, source, &options, &self.target, Some(name))?.0)
    }

    /// A program of the generator, on the range with the largest groups. Nothing is undefined in it.
    pub fn random(&self, seed: u64) -> Result<Kernel, String> {
        let generated = generate(seed, Profile::Portable);
        let module = self.compile(&generated.source(), generated.options, "k")?;
        let size = |range: &&NdRange| range.local.iter().product::<u64>();
        let range = *generated.ranges.iter().max_by_key(size).ok_or("no range")?;
        let args = generated.arguments(&module, &range);
        Ok(Kernel { title: format!("seed {seed}"), module, name: "k".into(), range, args })
    }

    /// A kernel of the gallery, as a block of the list describes it.
    pub fn of_gallery(&self, block: &str) -> Result<Kernel, String> {
        let (head, launch) = block.split_once('\n').ok_or("a block of one line")?;
        let mut words = head.split(' ');
        let (files, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let options = words.collect::<Vec<_>>().join(" ");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gallery/kernels");
        let text = |file| std::fs::read_to_string(folder.join(file)).map_err(|e| format!("{file}: {e}"));
        let source = files.split('+').map(text).collect::<Result<Vec<_>, _>>()?.join("\n");
        let module = self.compile(&source, &options, name).map_err(|e| format!("{head}: {e}"))?;
        let header = header::parse(launch, "").map_err(|e| format!("{head}: {e}"))?;
        let (range, _) = header.runs.into_iter().next().ok_or("no range")?;
        Ok(Kernel { title: head.to_owned(), module, name: name.to_owned(), range, args: header.args })
    }
}

/// The blocks of the list of kernels.
pub fn gallery() -> Vec<&'static str> {
    let blocks = include_str!("gallery.txt").split("\n\n").map(str::trim);
    blocks.filter(|block| !block.starts_with('#') && !block.is_empty()).collect()
}
