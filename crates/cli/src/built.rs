//! What `compile`, `link` and `library` say of what they made, for people and as JSON, and where it goes.

use crate::outcome::{Answer, Exit, Failure};
use cloom_compiler::{Compilation, Failure as BuildFailure, ImageKind, Program};
use serde::Serialize;
use std::path::PathBuf;

/// Where a result is.
pub enum Output {
    /// In a file, with so many bytes.
    File(PathBuf, u64),
    /// It goes to the standard output.
    Stdout(Vec<u8>),
    /// There is none.
    Nothing,
}

impl Output {
    /// Writes a result to a file.
    pub fn file(path: PathBuf, data: &[u8]) -> Result<Output, Failure> {
        std::fs::write(&path, data).map_err(|e| {
            Failure::wrong(format!("cannot write {}: {e}; choose another file with --output", path.display()))
        })?;
        Ok(Output::File(path, data.len() as u64))
    }
}

/// The answer as JSON, and what else a person is told.
#[derive(Serialize)]
pub struct Document {
    schema: &'static str,
    ok: bool,
    /// What the binary can be used for; the name of `CL_PROGRAM_BINARY_TYPE` in words.
    kind: Option<&'static str>,
    log: String,
    kernels: Vec<KernelInfo>,
    output: Option<String>,
    /// The same as a list: several sources that are not linked are several files.
    outputs: Vec<String>,
    #[serde(skip)]
    exit: Exit,
    #[serde(skip)]
    data: Vec<u8>,
    #[serde(skip)]
    summary: String,
}

#[derive(Serialize)]
struct KernelInfo {
    name: String,
    params: Vec<ParamInfo>,
    reqd_work_group_size: Option<[u32; 3]>,
}

#[derive(Serialize)]
struct ParamInfo {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    kind: String,
    size: u32,
}

impl Document {
    /// Of nothing yet.
    pub fn empty() -> Document {
        Document {
            schema: "cloom-compile/1",
            ok: true,
            kind: None,
            log: String::new(),
            kernels: Vec::new(),
            output: None,
            outputs: Vec::new(),
            exit: Exit::Fine,
            data: Vec::new(),
            summary: String::new(),
        }
    }

    /// Of a build that failed.
    pub fn failed(built: &Compilation, kind: BuildFailure) -> Document {
        let exit = if kind == BuildFailure::Options { Exit::Wrong } else { Exit::Findings };
        Document { ok: false, log: built.log.clone(), exit, ..Document::empty() }
    }

    /// Of a program, whose result is there already.
    pub fn of(program: &Program, log: String, output: Output) -> Document {
        let kind = match program.kind() {
            ImageKind::Object => "object",
            ImageKind::Library => "library",
            ImageKind::Executable => "executable",
        };
        let names: Vec<&str> = program.kernels().map(|(name, _)| name).collect();
        let count = match names.as_slice() {
            [] => "no kernel".to_owned(),
            [one] => format!("kernel {one}"),
            many => format!("{} kernels: {}", many.len(), many.join(", ")),
        };
        let mut document = Document { kind: Some(kind), log, kernels: kernels(program), ..Document::empty() };
        match output {
            Output::File(path, size) => {
                let path = path.display().to_string();
                document.summary = format!("{count}; wrote {path} ({})\n", crate::stats::bytes(size));
                document.outputs = vec![path.clone()];
                document.output = Some(path);
            }
            // The result itself is what goes out.
            Output::Stdout(data) => document.data = data,
            Output::Nothing => document.summary = format!("{count}\n"),
        }
        document
    }

    /// Adds what there is to say of another file.
    pub fn add(&mut self, other: Document) {
        self.ok &= other.ok;
        self.kind = self.kind.or(other.kind);
        self.log += &other.log;
        self.kernels.extend(other.kernels);
        self.outputs.extend(other.outputs);
        self.summary += &other.summary;
        if other.exit != Exit::Fine {
            self.exit = other.exit;
        }
    }

    /// As an answer.
    pub fn answer(self, json: bool) -> Result<Answer, Failure> {
        let answer = match json {
            true => Answer::json(&self, self.exit)?,
            false if !self.data.is_empty() => Answer { out: self.data, exit: self.exit, notes: String::new() },
            false => Answer::text(self.summary, self.exit),
        };
        Ok(if json && self.ok { answer } else { answer.with_notes(self.log) })
    }
}

fn kernels(program: &Program) -> Vec<KernelInfo> {
    let describe = |(name, meta): (&str, &cloom_ir::KernelMeta)| KernelInfo {
        name: name.to_owned(),
        params: meta
            .params
            .iter()
            .map(|p| ParamInfo {
                name: p.name.clone(),
                type_name: p.type_name.clone(),
                kind: format!("{:?}", p.kind).to_lowercase(),
                size: p.size,
            })
            .collect(),
        reqd_work_group_size: meta.reqd_group_size,
    };
    program.kernels().map(describe).collect()
}
