//! The kinds of machines that users have, under the names that each tool has for them.

use anyhow::{Result, bail};

/// A kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit x86.
    X86,
    /// 64-bit Arm.
    Arm,
}

impl Machine {
    /// This one.
    pub fn host() -> Result<Machine> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Machine::X86),
            "aarch64" => Ok(Machine::Arm),
            other => bail!("there are no packages for {other}"),
        }
    }

    /// For Rust, the C library, Python and users.
    pub fn arch(self) -> &'static str {
        match self {
            Machine::X86 => "x86_64",
            Machine::Arm => "aarch64",
        }
    }

    /// For Debian's packages.
    pub fn debian(self) -> &'static str {
        match self {
            Machine::X86 => "amd64",
            Machine::Arm => "arm64",
        }
    }

    /// The name of Debian's folders of libraries, which is also the beginning of the names of its compilers.
    pub fn multiarch(self) -> String {
        format!("{}-linux-gnu", self.arch())
    }

    /// For Rust.
    pub fn triple(self) -> String {
        format!("{}-unknown-linux-gnu", self.arch())
    }
}
