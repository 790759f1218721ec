//! Programs made from SPIR-V: the module, and the values of its specialisation constants.

use crate::objects::program::Program;
use crate::status::{bail, ensure};
use crate::{Error, Result, Status};
use cloom_compiler::{self as compiler, BuildTarget, Compilation, Compiler, SpecConstant};
use cloom_hal::lock::Mutex;

/// A module of SPIR-V.
pub struct Il {
    binary: Vec<u8>,
    known: Vec<SpecConstant>,
    /// Values that the application gave: number and bytes.
    given: Mutex<Vec<(u32, Vec<u8>)>>,
}

impl Il {
    /// Checks that it is SPIR-V; what else is wrong is found when it is compiled.
    pub(crate) fn new(binary: Vec<u8>) -> Result<Il> {
        ensure!(!binary.is_empty(), InvalidValue, "there is no intermediate language");
        let known = compiler::spec_constants(&binary).map_err(|e| Error::new(Status::InvalidValue, e.to_string()))?;
        Ok(Il { binary, known, given: Mutex::default() })
    }

    /// Its bytes, as they were given.
    pub fn binary(&self) -> &[u8] {
        &self.binary
    }

    /// Compiles it with the values that the specialisation constants have now; also links it, if it is to be built.
    pub(crate) fn compile(
        &self,
        compiler: &Compiler,
        options: &str,
        target: BuildTarget<'_>,
        build: bool,
    ) -> Compilation {
        let constants = self.given.lock().clone();
        let il = compiler::Il { binary: &self.binary, constants: &constants };
        match build {
            true => compiler.build_il(il, options, target),
            false => compiler.compile_il(il, options, target),
        }
    }
}

impl Program {
    // OpenCL 3.0 API, 5.8.3: Setting SPIR-V Specialization Constants.
    /// Gives a specialisation constant a value, for builds from now on.
    pub fn set_specialization_constant(&self, number: u32, bytes: &[u8]) -> Result<()> {
        let any = self.devices().iter().any(|d| d.takes_il());
        ensure!(any, InvalidOperation, "no device of the program takes an intermediate language");
        let Some(il) = self.il() else { bail!(InvalidProgram, "the program was not made from SPIR-V") };
        let Some(constant) = il.known.iter().find(|c| c.number == number) else {
            bail!(InvalidSpecId, "the module has no specialisation constant {number}")
        };
        let size = constant.size;
        ensure!(
            size == bytes.len(),
            InvalidValue,
            "specialisation constant {number} has {size} bytes, not {}",
            bytes.len()
        );
        let mut given = il.given.lock();
        given.retain(|old| old.0 != number);
        given.push((number, bytes.to_vec()));
        Ok(())
    }
}
