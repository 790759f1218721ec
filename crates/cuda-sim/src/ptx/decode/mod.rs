//! Decodes the text of an instruction.
//!
//! In: an opcode such as `setp.lt.and.f32` with its operands, and the scopes that give names a meaning. Out: an
//! operation without names. The parts of the opcode are taken one by one; a part that is not taken is an error, so that
//! an unknown modifier is never ignored. This file has the tools and the table of opcodes; the families of opcodes are
//! in other files of this folder.

mod alu;
mod control;
mod memory;

use crate::ptx::memory::{FUNCTION_STRIDE, FUNCTION_WINDOW};
use crate::ptx::op::{Address, Dst, Op, Special, Src, Test, Type};
use crate::ptx::soft::{self, F32, F64, Format, Round};
use crate::ptx::symbol::{Scopes, Symbol};
use cloom_ptx::ParseError;
use cloom_ptx::tree::{Arg, Base, Inst};
use cloom_ptx::{Literal, Register};

/// The slot of results that are never read.
const SINK: Dst = Dst { slot: 0, mask: 0 };

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// An instruction while it is decoded.
pub(super) struct Decoder<'d, 'm, 't> {
    pub(super) scopes: &'d mut Scopes<'m, 't>,
    pub(super) inst: &'d Inst<'t>,
    /// The parts of the opcode after the first that are not taken yet.
    pub(super) parts: Vec<&'d str>,
}

/// Decodes one instruction. Labels in the result are numbers of [`Scopes::use_label`].
pub(super) fn decode<'t>(inst: &Inst<'t>, scopes: &mut Scopes<'_, 't>) -> Result<crate::ptx::op::Inst> {
    let mut parts = inst.opcode.split('.');
    let name = parts.next().unwrap_or_default();
    let mut decoder = Decoder { scopes, inst, parts: parts.collect() };
    let guard = match inst.guard {
        Some((name, negated)) => Some(decoder.test_of(&if negated { Arg::Not(name) } else { Arg::Name(name) })?),
        None => None,
    };
    let op = decoder.opcode(name)?;
    if let Some(part) = decoder.parts.first() {
        return decoder.error(format!("unknown modifier .{part} of {}", inst.opcode));
    }
    Ok(crate::ptx::op::Inst { line: inst.line.0, guard, op })
}

impl<'d, 't> Decoder<'d, '_, 't> {
    fn opcode(&mut self, name: &'d str) -> Result<Op> {
        match name {
            "ld" | "ldu" | "st" | "atom" | "red" | "tex" | "cvta" | "isspacep" | "fence" | "membar" | "prefetch"
            | "prefetchu" => self.memory(name),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "bar" | "barrier" | "shfl" | "vote" | "match"
            | "redux" | "activemask" | "elect" | "nanosleep" | "pmevent" => self.control(name),
            "mov" => self.mov(),
            "cvt" => self.cvt(),
            "setp" | "set" => self.compare(name),
            "testp" => self.test_property(),
            _ => self.arithmetic(name),
        }
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.inst.line.0, what: what.into() })
    }

    pub(super) fn unknown<T>(&self) -> Result<T> {
        self.error(format!("unknown instruction {}", self.inst.opcode))
    }

    /// Takes a part of the opcode if it is there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let found = self.parts.iter().position(|part| *part == name);
        found.map(|index| self.parts.remove(index)).is_some()
    }

    /// Takes all parts of the opcode that are in a list, because they change nothing here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.parts.retain(|part| !names.contains(part));
    }

    /// Takes the first part of the opcode that is in a table.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        for (index, part) in self.parts.iter().enumerate() {
            if let Some((_, value)) = table.iter().find(|(name, _)| name == part) {
                self.parts.remove(index);
                return Some(*value);
            }
        }
        None
    }

    /// Takes the first type of the opcode.
    pub(super) fn ty(&mut self) -> Result<Type> {
        for (index, part) in self.parts.iter().enumerate() {
            if let Some(ty) = Type::parse(part) {
                self.parts.remove(index);
                return Ok(ty);
            }
        }
        self.error(format!("{} has no known type", self.inst.opcode))
    }

    /// Takes a rounding mode of floating-point results.
    pub(super) fn rounding(&mut self) -> Option<Round> {
        self.one_of(&[("rn", Round::Nearest), ("rz", Round::Zero), ("rm", Round::Down), ("rp", Round::Up)])
    }

    /// Checks the number of operands.
    pub(super) fn expect_args(&self, least: usize, most: usize) -> Result<()> {
        let count = self.inst.args.len();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        self.error(format!("{} has {count} operands", self.inst.opcode))
    }

    pub(super) fn arg(&self, index: usize) -> Result<&Arg<'t>> {
        match self.inst.args.get(index) {
            Some(arg) => Ok(arg),
            None => self.error(format!("{} has too few operands", self.inst.opcode)),
        }
    }

    /// A destination register of exactly the width of a type.
    pub(super) fn dst(&self, index: usize, ty: Type) -> Result<Dst> {
        let arg = self.arg(index)?;
        self.dst_of(arg, ty, false)
    }

    /// A destination register at least as wide as a type, as loads and conversions allow.
    pub(super) fn wide_dst(&self, index: usize, ty: Type) -> Result<Dst> {
        let arg = self.arg(index)?;
        self.dst_of(arg, ty, true)
    }

    pub(super) fn dst_of(&self, arg: &Arg<'t>, ty: Type, wider: bool) -> Result<Dst> {
        match arg {
            Arg::Name(name) => self.dst_named(name, ty, wider),
            _ => self.error("the destination is not a register"),
        }
    }

    pub(super) fn dst_named(&self, name: &str, ty: Type, wider: bool) -> Result<Dst> {
        if name == "_" {
            return Ok(SINK);
        }
        match self.scopes.find(name) {
            Some(Symbol::Register(Register { slot, bits })) => {
                self.check_width(name, bits, ty, wider)?;
                Ok(Dst { slot, mask: u64::MAX >> (64 - bits) })
            }
            Some(_) => self.error(format!("{name} is not a register")),
            None => self.error(format!("unknown name {name}")),
        }
    }

    fn check_width(&self, name: &str, bits: u32, ty: Type, wider: bool) -> Result<()> {
        let need = ty.bits * ty.lanes;
        // No register has 8 bits; a predicate never stands for a number.
        let wider = (wider || need == 8) && ty != Type::PRED && bits != 1;
        if bits == need || (wider && bits > need) {
            return Ok(());
        }
        self.error(format!("{name} has {bits} bits, but {} needs {need}", self.inst.opcode))
    }

    /// The two destinations of `d|p`; the second is absent if the operand is a plain name.
    pub(super) fn dst_pair(&self, index: usize, first: Type, second: Type) -> Result<(Dst, Option<Dst>)> {
        match *self.arg(index)? {
            Arg::Pair(a, b) => Ok((self.dst_named(a, first, false)?, Some(self.dst_named(b, second, false)?))),
            _ => Ok((self.dst(index, first)?, None)),
        }
    }

    /// A source of exactly the width of a type.
    pub(super) fn src(&self, index: usize, ty: Type) -> Result<Src> {
        let arg = self.arg(index)?;
        self.src_of(arg, ty, false)
    }

    /// A source at least as wide as a type.
    pub(super) fn wide_src(&self, index: usize, ty: Type) -> Result<Src> {
        let arg = self.arg(index)?;
        self.src_of(arg, ty, true)
    }

    pub(super) fn src_of(&self, arg: &Arg<'t>, ty: Type, wider: bool) -> Result<Src> {
        match *arg {
            Arg::Literal(literal) => self.literal(literal, ty),
            Arg::Name(name) => match self.scopes.find(name) {
                Some(Symbol::Register(Register { slot, bits })) => {
                    self.check_width(name, bits, ty, wider)?;
                    Ok(Src::Reg(slot))
                }
                Some(symbol) => self.symbol(name, &symbol, 0),
                // Only now: a register that is declared with the name of a special register hides it.
                None => match Special::parse(name) {
                    Some(special) if ty != Type::PRED => Ok(Src::Special(special)),
                    _ => self.error(format!("unknown name {name}")),
                },
            },
            Arg::Offset(name, offset) => match self.scopes.find(name) {
                Some(symbol) => self.symbol(name, &symbol, offset),
                None => self.error(format!("unknown name {name}")),
            },
            _ => self.error("this kind of operand is not possible here"),
        }
    }

    /// The bits of a literal in an instruction of a type.
    fn literal(&self, literal: Literal, ty: Type) -> Result<Src> {
        let convert = |bits: u64, from: Format| match Format::of(ty) {
            Some(to) if to != from && ty.lanes == 1 => soft::pack_number(soft::unpack(bits, from), to, Round::Nearest),
            _ => bits,
        };
        match literal {
            // LLVM prints the bits of floats as `0f…` and `0d…`. An integer here would be taken for a number or for
            // bits.
            Literal::Int(value) if matches!(Format::of(ty), Some(F32 | F64)) => {
                self.error(format!("the integer {value} stands for a float"))
            }
            Literal::Int(value) => Ok(Src::Imm(value)),
            Literal::Single(bits) => Ok(Src::Imm(convert(u64::from(bits), F32))),
            Literal::Double(bits) => Ok(Src::Imm(convert(bits, F64))),
            Literal::Decimal(value) if ty.is_float() && ty.lanes == 1 => Ok(Src::Imm(convert(value.to_bits(), F64))),
            Literal::Decimal(value) => self.error(format!("the float {value} stands for an integer")),
        }
    }

    /// The address of a variable, in its own space.
    fn symbol(&self, name: &str, symbol: &Symbol, offset: i64) -> Result<Src> {
        let sum = |base: u32| u32::try_from(i64::from(base).wrapping_add(offset)).ok();
        let fixed = |base: u32| sum(base).map(|sum| Src::Imm(u64::from(sum)));
        let src = match symbol {
            Symbol::Param(slot) => fixed(slot.offset),
            Symbol::Shared(base) | Symbol::Const(base) => fixed(*base),
            Symbol::Local(base) => sum(*base).map(Src::Local),
            Symbol::DynamicShared => sum(0).map(Src::DynamicShared),
            Symbol::Variable(index) => i32::try_from(offset).ok().map(|offset| Src::Variable(*index, offset)),
            Symbol::Function(index) if offset == 0 => {
                Some(Src::Imm(FUNCTION_WINDOW + u64::from(*index) * FUNCTION_STRIDE))
            }
            _ => None,
        };
        match src {
            Some(src) => Ok(src),
            None => self.error(format!("{name} has no address that can be used here")),
        }
    }

    /// A predicate, perhaps negated.
    pub(super) fn test(&self, index: usize) -> Result<Test> {
        let arg = self.arg(index)?;
        self.test_of(arg)
    }

    fn test_of(&self, arg: &Arg<'t>) -> Result<Test> {
        match arg {
            Arg::Not(name) => Ok(Test { src: self.src_of(&Arg::Name(name), Type::PRED, false)?, negated: true }),
            _ => Ok(Test { src: self.src_of(arg, Type::PRED, false)?, negated: false }),
        }
    }

    /// An address `[base+offset]`.
    pub(super) fn address(&self, index: usize) -> Result<Address> {
        let Arg::Address(base, offset) = self.arg(index)? else { return self.error("the operand is not an address") };
        match *base {
            Base::Number(value) => Ok(Address { base: Src::Imm(value), offset: *offset, narrow: false }),
            Base::Name(name) => match self.scopes.find(name) {
                Some(Symbol::Register(Register { slot, bits: bits @ (32 | 64) })) => {
                    Ok(Address { base: Src::Reg(slot), offset: *offset, narrow: bits == 32 })
                }
                Some(Symbol::Register(_)) => self.error(format!("{name} is too narrow for an address")),
                Some(symbol) => Ok(Address { base: self.symbol(name, &symbol, 0)?, offset: *offset, narrow: false }),
                None => self.error(format!("unknown name {name}")),
            },
        }
    }
}
