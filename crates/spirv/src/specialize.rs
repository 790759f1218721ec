//! The specialisation constants of a module, for the host: found without compiling it.

use crate::error::{Error, Result};
use crate::reader::{Id, Inst, Words};
use rustc_hash::FxHashMap;
use spirv::{Decoration, Op};

/// A specialisation constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpecConstant {
    /// The number that the host knows it by.
    pub number: u32,
    /// Bytes of its value; a truth value has one.
    pub size: usize,
}

/// The specialisation constants of a module, in order; or why it cannot be read.
pub fn spec_constants(binary: &[u8]) -> std::result::Result<Vec<SpecConstant>, Error> {
    let words = Words::read(binary)?;
    let (mut numbers, mut sizes) = (FxHashMap::default(), FxHashMap::default());
    let mut found = Vec::new();
    for inst in words.insts() {
        let inst = inst?;
        let mut one = |inst: &Inst<'_>| -> Result<()> {
            match inst.op {
                Op::Decorate if inst.word(1)? == Decoration::SpecId as u32 => {
                    numbers.insert(inst.word(0)?, inst.word(2)?);
                }
                Op::TypeBool => {
                    sizes.insert(inst.word(0)?, 1);
                }
                Op::TypeInt | Op::TypeFloat => {
                    sizes.insert(inst.word(0)?, (inst.word(1)? / 8) as usize);
                }
                Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant => found.push(inst.result()?),
                _ => {}
            }
            Ok(())
        };
        one(&inst).map_err(|e| e.at(&inst))?;
    }
    // A constant without a number cannot be given by the host.
    let of = |&(ty, id): &(Id, Id)| Some(SpecConstant { number: *numbers.get(&id)?, size: *sizes.get(&ty)? });
    Ok(found.iter().filter_map(of).collect())
}
