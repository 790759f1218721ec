//! The kinds of machines that users have, under the names that each tool has for them.

use crate::aarch64;
use anyhow::{Result, bail, ensure};
use std::path::Path;
use std::process::Command;

/// A kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit x86.
    X86,
    /// 64-bit Arm.
    Arm,
}

impl Machine {
    /// All kinds.
    pub const ALL: [Machine; 2] = [Machine::X86, Machine::Arm];

    /// This one.
    pub fn host() -> Result<Machine> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Machine::X86),
            "aarch64" => Ok(Machine::Arm),
            other => bail!("there are no packages for {other}"),
        }
    }

    /// The one with that name. On a machine of another kind, only packages for Arm can be made: an emulator runs what
    /// is made for them.
    pub fn named(name: &str) -> Result<Machine> {
        let Some(machine) = Machine::ALL.into_iter().find(|m| m.arch() == name || m.debian() == name) else {
            bail!("there are no packages for {name}, but for {}", Machine::ALL.map(Machine::arch).join(" and "));
        };
        // Nothing here makes or runs programs for x86 on another machine.
        ensure!(
            machine == Machine::Arm || machine.is_host(),
            "packages for {} are made on such a machine only",
            machine.arch()
        );
        Ok(machine)
    }

    /// Whether this is such a machine.
    pub fn is_host(self) -> bool {
        Machine::host().is_ok_and(|host| host == self)
    }

    /// A tool of the compiler for such machines: `gcc`, `ar`.
    pub fn tool(self, name: &str) -> String {
        if self.is_host() { name.to_owned() } else { format!("{}-{name}", self.multiarch()) }
    }

    /// A program that is made for such machines, here.
    pub fn run(self, program: &Path) -> Command {
        if self.is_host() { Command::new(program) } else { aarch64::emulated(program) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_the_names_of_rust_and_of_debian() {
        assert_eq!(Machine::named("aarch64").unwrap(), Machine::Arm);
        assert_eq!(Machine::named("arm64").unwrap(), Machine::Arm);
        assert!(Machine::named("riscv64").unwrap_err().to_string().contains("x86_64 and aarch64"));
        let host = Machine::host().unwrap();
        assert_eq!((host.tool("gcc").as_str(), host.is_host()), ("gcc", true));
        let other = if host == Machine::Arm { Machine::X86 } else { Machine::Arm };
        assert_eq!(other.tool("ar"), format!("{}-linux-gnu-ar", other.arch()));
        assert_eq!(Machine::named(other.arch()).is_ok(), other == Machine::Arm);
    }
}
