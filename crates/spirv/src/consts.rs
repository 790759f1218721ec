//! Constants: numbers, composites of them, addresses of variables; specialisation constants get their values here.
//!
//! An operation on constants is lowered as the same operation in a function would be, into a function that is thrown
//! away, and then computed by the rules of the IR: each operation has one meaning.

use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::limits;
use crate::reader::{Id, Inst};
use crate::types::{Kind, Ty};
use cloom_ir::{BinOp, CastOp, Function, Op as IrOp, Reloc, Scalar, Space, Type, Value, eval};
use rustc_hash::FxHashMap;
use spirv::{Decoration, Op, SamplerAddressingMode};
use std::rc::Rc;

/// A part of a constant.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Leaf {
    /// The bits of each lane.
    Bits(Rc<[u64]>),
    /// An address in a variable of the module, in bytes; the address space of the pointer.
    Address(Id, i64, Space),
}

/// The value of a constant.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// All zero.
    Null,
    /// Its parts.
    Parts(Rc<[Leaf]>),
    /// Other constants, one for each component.
    Composite(Rc<[Id]>),
}

/// A constant.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub ty: Ty,
    pub value: Content,
}

fn bits(n: u64) -> Content {
    Content::Parts(Rc::new([Leaf::Bits(Rc::new([n]))]))
}

impl Context<'_, '_> {
    /// A constant's declaration.
    pub fn constant(&mut self, inst: &Inst<'_>) -> Result<()> {
        let (type_id, id) = inst.result()?;
        let ty = self.types.get(type_id)?;
        let spec = self.spec_value(id)?;
        let value = match inst.op {
            // What is undefined is zero, as in functions.
            Op::ConstantNull | Op::Undef => Content::Null,
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                ensure!(self.types[ty].kind == Kind::Bool, "its type is not that of a truth value");
                let written = matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let given = spec.map(|bytes| bytes.iter().any(|&b| b != 0));
                bits(u64::from(given.unwrap_or(written)))
            }
            Op::Constant | Op::SpecConstant => {
                let Kind::Number(scalar) = self.types[ty].kind else { bail!("its type is not that of a number") };
                // A narrow constant has one word, whose upper bits may be its sign: the mask below takes them away.
                let mut n = u64::from(inst.word(2)?);
                if scalar.bits() == 64 {
                    n |= u64::from(inst.word(3)?) << 32;
                }
                if let Some(bytes) = spec {
                    n = bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
                }
                bits(n & scalar.mask())
            }
            Op::ConstantSampler => bits(u64::from(sampler(inst)?)),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                for &part in inst.rest(2) {
                    ensure!(self.consts.contains_key(&part), "%{part} is no constant");
                }
                self.composite(ty, inst.rest(2))?
            }
            Op::SpecConstantOp => return self.operation(inst, ty, id),
            _ => bail!("it is not supported"),
        };
        self.add_constant(id, Constant { ty, value })
    }

    pub fn add_constant(&mut self, id: Id, constant: Constant) -> Result<()> {
        ensure!(self.consts.insert(id, constant).is_none(), "the id %{id} is declared twice");
        Ok(())
    }

    /// The bytes that the application gave for a specialisation constant.
    fn spec_value(&self, id: Id) -> Result<Option<&[u8]>> {
        let Some(words) = self.module.decoration(id, Decoration::SpecId) else { return Ok(None) };
        let Some(number) = words.first() else { bail!("the decoration SpecId has no number") };
        Ok(self.constants_given.get(number).copied())
    }

    /// A constant of components, whose types are checked.
    fn composite(&mut self, ty: Ty, ids: &[Id]) -> Result<Content> {
        let count = match &self.types[ty].kind {
            Kind::Struct(members) => members.len() as u64,
            Kind::Array(_, n) => *n,
            Kind::Vector(_, lanes) => u64::from(*lanes),
            _ => bail!("its type has no components"),
        };
        ensure!(count == ids.len() as u64, "{} components for a type of {count}", ids.len());
        for (i, id) in ids.iter().enumerate() {
            let (wanted, ..) = self.types.component(ty, i as u64)?;
            let found = self.consts[id].ty;
            ensure!(self.same(wanted, found)?, "component {i} has another type than the composite says");
        }
        // Other composites share their components: nested arrays written out would take the product of their sizes.
        if !matches!(self.types[ty].kind, Kind::Vector(..)) {
            return Ok(Content::Composite(ids.into()));
        }
        let lane = |id: &Id| match &self.consts[id].value {
            Content::Parts(parts) => match parts.first() {
                Some(Leaf::Bits(lanes)) => Ok(lanes[0]),
                _ => bail!("a component of a vector is an address"),
            },
            _ => Ok(0),
        };
        let lanes = ids.iter().map(lane).collect::<Result<Rc<[u64]>>>()?;
        Ok(Content::Parts(Rc::new([Leaf::Bits(lanes)])))
    }

    /// Whether two types have the same values. Structures and arrays may be declared more than once.
    pub fn same(&mut self, a: Ty, b: Ty) -> Result<bool> {
        if a == b {
            return Ok(true);
        }
        self.charge(1)?;
        Ok(match (self.types[a].kind.clone(), self.types[b].kind.clone()) {
            (Kind::Array(a, n), Kind::Array(b, m)) => n == m && self.same(a, b)?,
            (Kind::Struct(a), Kind::Struct(b)) => {
                let mut same = a.len() == b.len();
                for (a, b) in a.iter().zip(b.iter()) {
                    same = same && a.1 == b.1 && self.same(a.0, b.0)?;
                }
                same
            }
            // What a pointer points to makes no difference to its value.
            (Kind::Pointer(a, _), Kind::Pointer(b, _)) => a == b,
            _ => false,
        })
    }

    /// An operation on constants.
    fn operation(&mut self, inst: &Inst<'_>, ty: Ty, id: Id) -> Result<()> {
        let Some(op) = Op::from_u32(inst.word(2)?) else { bail!("its operation is not known") };
        // The operation's own operands follow its number, and come where the instruction in a function has them.
        let words: Vec<u32> = [inst.word(0)?, id].into_iter().chain(inst.rest(3).iter().copied()).collect();
        let of = Inst { op, at: inst.at, words: &words };
        // The function is empty but for this operation. Its operands are constants that are known already, as these
        // stand in order.
        let mut scratch = Fn::new(self, Function::new("", Vec::new(), None), false);
        scratch.inst(&of)?;
        let parts = scratch.value_of(id)?.parts.clone();
        let known = evaluate(&scratch)?;
        let globals = &self.global_ids;
        let leaf = |v: &Value| match known.get(v) {
            Some(Known::Bits(lanes)) => Ok(Leaf::Bits(lanes.as_slice().into())),
            Some(&Known::Address(g, offset, space)) => match globals.get(&g) {
                Some(&id) => Ok(Leaf::Address(id, offset, space)),
                None => bail!("{op:?} gives no constant"),
            },
            None => bail!("{op:?} gives no constant"),
        };
        let parts = parts.iter().map(leaf).collect::<Result<Rc<[Leaf]>>>()?;
        self.add_constant(id, Constant { ty, value: Content::Parts(parts) })
    }

    /// The value of a constant that is an integer.
    pub fn integer(&self, id: Id) -> Result<u64> {
        let Some(constant) = self.consts.get(&id) else { bail!("%{id} is no constant") };
        let Kind::Number(scalar) = self.types[constant.ty].kind else { bail!("%{id} is no integer") };
        ensure!(scalar.is_int(), "%{id} is no integer");
        match &constant.value {
            Content::Null => Ok(0),
            Content::Parts(parts) => match &parts[..] {
                [Leaf::Bits(lanes)] => Ok(lanes[0]),
                _ => bail!("%{id} is no number"),
            },
            Content::Composite(_) => bail!("%{id} is no number"),
        }
    }

    /// Writes a constant as a variable has it in memory. Constants are nested as deep as their types.
    pub fn write(&mut self, id: Id, at: u64, bytes: &mut [u8], relocs: &mut Vec<Reloc>) -> Result<()> {
        self.charge(1)?;
        let Some(Constant { ty, value }) = self.consts.get(&id).cloned() else { bail!("%{id} is no constant") };
        match value {
            // The bytes are zeros already.
            Content::Null => {}
            Content::Composite(ids) => {
                for (i, &part) in ids.iter().enumerate() {
                    let (_, offset, _) = self.types.component(ty, i as u64)?;
                    self.write(part, at + offset, bytes, relocs)?;
                }
            }
            Content::Parts(leaves) => {
                let parts = self.types.parts(ty)?;
                for (part, leaf) in parts.iter().zip(leaves.iter()) {
                    let start = (at + part.offset) as usize;
                    match leaf {
                        Leaf::Bits(lanes) => {
                            let size = part.in_memory().scalar.bytes() as usize;
                            let room = bytes.get_mut(start..).unwrap_or_default();
                            for (lane, room) in lanes.iter().zip(room.chunks_exact_mut(size)) {
                                room.copy_from_slice(&lane.to_le_bytes()[..size]);
                            }
                        }
                        Leaf::Address(variable, addend, _) => {
                            let Some(&target) = self.globals.get(variable) else {
                                bail!("an initial value is the address of what is no variable")
                            };
                            ensure!(
                                self.ir.globals[target].space != Space::Local,
                                "an initial value is an address in local memory"
                            );
                            relocs.push(Reloc { offset: start as u64, target, addend: *addend });
                            ensure!(relocs.len() <= limits::RELOCS, "too many addresses in initial values");
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// `OpConstantSampler`, as the bits that a kernel gets for a sampler.
fn sampler(inst: &Inst<'_>) -> Result<u32> {
    let [addressing, normalised, filter] = inst.operands()?;
    ensure!(SamplerAddressingMode::from_u32(addressing).is_some(), "the addressing mode {addressing} is not known");
    ensure!(filter <= 1, "the filter mode {filter} is not known");
    // As `cloom_ir::abi::image::sampler` packs them.
    Ok(addressing << 1 | normalised & 1 | (filter + 1) << 4)
}

/// What is known of a value.
#[derive(Clone)]
enum Known {
    Bits(Vec<u64>),
    Address(cloom_ir::GlobalRef, i64, Space),
}

/// Computes the values of a function without branches, as far as they are constants.
fn evaluate(scratch: &Fn<'_, '_, '_>) -> Result<FxHashMap<Value, Known>> {
    let func = &scratch.func;
    let mut known: FxHashMap<Value, Known> = FxHashMap::default();
    for (_, data) in func.insts_in_layout() {
        let Some(result) = data.result else { bail!("it has an effect") };
        let args: Option<Vec<&Known>> = data.args.iter().map(|a| known.get(a)).collect();
        let types: Vec<Type> = data.args.iter().map(|&a| func.ty(a)).collect();
        if let Some(value) = args.and_then(|args| compute(&data.op, func.ty(result), &types, &args)) {
            known.insert(result, value);
        } else if let IrOp::GlobalAddr(g) = data.op {
            known.insert(result, Known::Address(g, 0, func.ty(result).space().unwrap_or(Space::Global)));
        }
    }
    Ok(known)
}

fn compute(op: &IrOp, ty: Type, types: &[Type], args: &[&Known]) -> Option<Known> {
    // The type that an operation computes in is its operand's: that of a comparison's result is `i1`.
    let scalar = types.first().map_or(Scalar::I8, |ty| ty.scalar);
    // Addresses are known up to the place of their variable, so that only moving and casting them gives a constant.
    if let [Known::Address(g, offset, space), rest @ ..] = args {
        return Some(match (op, rest) {
            (IrOp::PtrAdd, [Known::Bits(by)]) => Known::Address(*g, offset.wrapping_add(by[0] as i64), *space),
            (IrOp::Cast(CastOp::Space), []) => Known::Address(*g, *offset, ty.space()?),
            (IrOp::Cast(CastOp::Bitcast), []) if ty.is_ptr() => Known::Address(*g, *offset, *space),
            _ => return None,
        });
    }
    let lanes: Vec<&Vec<u64>> = args
        .iter()
        .map(|a| match a {
            Known::Bits(lanes) => Some(lanes),
            Known::Address(..) => None,
        })
        .collect::<Option<_>>()?;
    let each = |f: &dyn std::ops::Fn(&[u64]) -> u64| {
        // A select may have one condition for all lanes.
        let lane = |i: usize| f(&lanes.iter().map(|l| l[i.min(l.len() - 1)]).collect::<Vec<_>>());
        Known::Bits((0..usize::from(ty.lanes)).map(lane).collect())
    };
    Some(match op {
        IrOp::Const(bits) => Known::Bits(vec![*bits; usize::from(ty.lanes)]),
        IrOp::Unary(op) => each(&|v| eval::unary(*op, scalar, v[0])),
        IrOp::Binary(op) => each(&|v| eval::binary(*op, scalar, v[0], v[1])),
        IrOp::Fma => each(&|v| eval::fma(scalar, v[0], v[1], v[2])),
        IrOp::Icmp(cc) => each(&|v| u64::from(eval::icmp(*cc, scalar, v[0], v[1]))),
        IrOp::Fcmp(cc) => each(&|v| u64::from(eval::fcmp(*cc, scalar, v[0], v[1]))),
        IrOp::Select => each(&|v| if v[0] != 0 { v[1] } else { v[2] }),
        IrOp::PtrAdd => each(&|v| eval::binary(BinOp::Add, Scalar::I64, v[0], v[1])),
        IrOp::Cast(CastOp::Bitcast) if types[0].lanes != ty.lanes => {
            let size = scalar.bytes() as usize;
            let bytes: Vec<u8> = lanes[0].iter().flat_map(|l| l.to_le_bytes()[..size].to_vec()).collect();
            let value = |b: &[u8]| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
            Known::Bits(bytes.chunks(ty.scalar.bytes() as usize).map(value).collect())
        }
        IrOp::Cast(op) => each(&|v| eval::cast(*op, scalar, ty.scalar, v[0])),
        IrOp::Splat => Known::Bits(vec![lanes[0][0]; usize::from(ty.lanes)]),
        IrOp::Build => Known::Bits(lanes.iter().map(|l| l[0]).collect()),
        IrOp::Extract => Known::Bits(vec![lanes[0][lanes[1][0] as usize % lanes[0].len()]]),
        IrOp::Insert => {
            let mut out = lanes[0].clone();
            let at = lanes[1][0] as usize % out.len();
            out[at] = lanes[2][0];
            Known::Bits(out)
        }
        IrOp::Shuffle(picks) => {
            let all: Vec<u64> = lanes[0].iter().chain(lanes[1]).copied().collect();
            Known::Bits(picks.iter().map(|&p| all.get(usize::from(p)).copied().unwrap_or(0)).collect())
        }
        _ => return None,
    })
}
