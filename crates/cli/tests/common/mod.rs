//! Starts `cloom` in a folder of its own and an environment without settings of this machine.

#![allow(dead_code, reason = "each test file uses a part")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The outcome of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Fails unless the status is as expected.
    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}\n{}", self.out, self.err);
        self
    }
}

/// A folder with files.
pub struct Bench {
    pub dir: TempDir,
    vars: Vec<(String, String)>,
}

pub const KERNELS: &str = "kernel void saxpy(global float *y, global const float *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
kernel void total(global const int *in, global int *out, local int *t) {
    int l = get_local_id(0);
    t[l] = in[get_global_id(0)];
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) t[l] += t[l + s];
    }
    if (l == 0) out[get_group_id(0)] = t[0];
}
";

impl Bench {
    /// With `kernels.cl` in it.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("kernels.cl"), KERNELS).unwrap();
        Self { dir, vars: Vec::new() }
    }

    /// Sets a variable.
    pub fn set(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.vars.push((name.to_owned(), value.as_ref().display().to_string()));
        self
    }

    pub fn file(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// Runs `cloom` with the words of a line.
    pub fn cloom(&self, line: &str) -> Ran {
        self.piped(line, "")
    }

    /// Runs `cloom` with a text at its standard input.
    pub fn piped(&self, line: &str, input: &str) -> Ran {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        self.with_input(&words, input)
    }

    /// Runs `cloom` with these words.
    pub fn words(&self, words: &[String]) -> Ran {
        self.with_input(words, "")
    }

    /// Runs `cloom` with these words and a text at its standard input.
    pub fn with_input(&self, words: &[String], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cloom"));
        command.args(words).current_dir(self.dir.path());
        for name in ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "OPENCL_DYLIB_PATH"] {
            command.env_remove(name);
        }
        command.env("CLOOM_CACHE_DIR", self.dir.path().join("cache"));
        command.envs(self.vars.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that ends before it has read its input is one of the cases.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
