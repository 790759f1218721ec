//! One function while it is lowered: values by id, and helpers that check operands and write instructions.
//!
//! Constants, addresses of variables and private memory are made in the entry block, which has nothing else in it and
//! jumps to the first block of the source.

use crate::consts::{Constant, Content, Leaf};
use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::reader::{Id, Inst};
use crate::types::Ty;
use cloom_ir::{BinOp, Block, Builder, CastOp, Flags, Function, Scalar, Space, Span, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use spirv::{Decoration, FPFastMathMode, Op};
use std::rc::Rc;

/// A value of the module: the values of the IR that it consists of.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub ty: Ty,
    pub parts: Rc<[Value]>,
}

/// The function being lowered.
pub(crate) struct Fn<'c, 'a, 'w> {
    pub cx: &'c mut Context<'a, 'w>,
    pub func: Function,
    pub entry: Block,
    pub block: Block,
    pub span: Span,
    pub values: FxHashMap<Id, Val>,
    /// Products that may be a part of a sum that is rounded once.
    pub products: FxHashMap<Value, (Value, Value)>,
    /// Bytes of private memory so far.
    pub private: u64,
    /// The type that is returned, and where, if it is more than one value.
    pub ret: Option<(Ty, Option<Value>)>,
    /// Whether products are added in one operation.
    pub contract: bool,
    counted: usize,
}

impl<'c, 'a, 'w> Fn<'c, 'a, 'w> {
    /// A function with an entry block, which contracts or does not.
    pub fn new(cx: &'c mut Context<'a, 'w>, mut func: Function, contract: bool) -> Self {
        let entry = func.add_block();
        Fn {
            cx,
            func,
            entry,
            block: entry,
            span: Span::NONE,
            values: FxHashMap::default(),
            products: FxHashMap::default(),
            private: 0,
            ret: None,
            contract,
            counted: 0,
        }
    }

    pub fn b(&mut self) -> Builder<'_> {
        Builder { func: &mut self.func, block: self.block, span: self.span }
    }

    /// Lowers an instruction that is not about control flow.
    pub fn inst(&mut self, inst: &Inst<'_>) -> Result<()> {
        let known = match inst.op {
            Op::Line => {
                self.span = self.cx.line(inst)?;
                true
            }
            Op::NoLine => {
                self.span = Span::NONE;
                true
            }
            // Structure and lifetimes are found in the graph again, where a pass needs them.
            Op::Nop | Op::SelectionMerge | Op::LoopMerge | Op::LifetimeStart | Op::LifetimeStop => true,
            // Nothing is concluded from the assumption, but its operand must be a truth value.
            Op::AssumeTrueKHR => {
                self.truth_of(inst.word(0)?)?;
                true
            }
            _ => {
                self.arith(inst)?
                    || self.logic(inst)?
                    || self.memory(inst)?
                    || self.composite(inst)?
                    || self.convert(inst)?
                    || self.call(inst)?
                    || self.atomic(inst)?
                    || self.group(inst)?
                    || self.intel(inst)?
                    || self.image(inst)?
                    || self.pipe(inst)?
                    || self.enqueue(inst)?
            }
        };
        ensure!(known, "the instruction is not supported");
        // Counted after each instruction: one of the source may become thousands.
        let made = self.func.insts.len();
        self.cx.charge_insts(made - self.counted)?;
        self.counted = made;
        Ok(())
    }

    /// The value of an id.
    pub fn value_of(&mut self, id: Id) -> Result<Val> {
        if let Some(known) = self.values.get(&id) {
            return Ok(known.clone());
        }
        let val = if let Some(constant) = self.cx.consts.get(&id).cloned() {
            // In the entry block it dominates all uses, so that one copy in a function is enough: `values` keeps it.
            let block = std::mem::replace(&mut self.block, self.entry);
            let mut parts = Vec::new();
            self.constant(&constant, &mut parts)?;
            self.block = block;
            Val { ty: constant.ty, parts: parts.into() }
        } else if let Some(&(ty, what)) = self.cx.inputs.get(&id) {
            let room = self.given(ty, what)?;
            Val { ty, parts: Rc::new([room]) }
        } else {
            bail!("%{id} is not defined here")
        };
        self.values.insert(id, val.clone());
        Ok(val)
    }

    /// Writes a constant. Constants are nested as deep as their types.
    fn constant(&mut self, constant: &Constant, out: &mut Vec<Value>) -> Result<()> {
        self.cx.charge(1)?;
        let parts = self.cx.types.parts(constant.ty)?;
        match &constant.value {
            Content::Null => out.extend(parts.iter().map(|p| self.b().iconst(p.ty, 0))),
            Content::Composite(ids) => {
                for id in ids.iter() {
                    let Some(part) = self.cx.consts.get(id).cloned() else { bail!("%{id} is no constant") };
                    self.constant(&part, out)?;
                }
            }
            Content::Parts(leaves) => {
                ensure!(leaves.len() == parts.len(), "a constant does not fit its type");
                for (part, leaf) in parts.iter().zip(leaves.iter()) {
                    out.push(self.leaf(part.ty, leaf)?);
                }
            }
        }
        Ok(())
    }

    fn leaf(&mut self, ty: Type, leaf: &Leaf) -> Result<Value> {
        match leaf {
            // A constant of a vector type has one number for all lanes.
            Leaf::Bits(lanes) if lanes.iter().all(|&l| l == lanes[0]) => Ok(self.b().iconst(ty, lanes[0])),
            Leaf::Bits(lanes) => {
                let lanes: Vec<Value> = lanes.iter().map(|&l| self.b().iconst(ty.lane(), l)).collect();
                Ok(self.b().build(&lanes))
            }
            &Leaf::Address(id, offset, space) => {
                let Some(&global) = self.cx.globals.get(&id) else { bail!("%{id} is no variable") };
                let own = self.cx.ir.globals[global].space;
                let p = self.b().global_addr(global, own);
                let p = self.b().ptr_offset(p, offset as u64);
                Ok(self.in_space(p, space))
            }
        }
    }

    /// A pointer in another address space.
    pub fn in_space(&mut self, p: Value, space: Space) -> Value {
        if self.func.ty(p).space() == Some(space) {
            return p;
        }
        self.b().cast(CastOp::Space, p, Type::ptr(space))
    }

    /// Makes the result of an instruction, whose parts must have the types that it says.
    pub fn define(&mut self, id: Id, ty: Ty, parts: Vec<Value>) -> Result<bool> {
        let wanted = self.cx.types.parts(ty)?;
        self.cx.charge(parts.len() + 1)?;
        ensure!(wanted.len() == parts.len(), "the result has {} parts, not {}", parts.len(), wanted.len());
        for (wanted, &part) in wanted.iter().zip(&parts) {
            let found = self.func.ty(part);
            ensure!(wanted.ty == found, "the result is of type {found}, not of {}", wanted.ty);
        }
        // Ids are unique in a module. A second definition would make uses before it mean another value than uses after
        // it.
        let is_new = !self.cx.consts.contains_key(&id) && !self.cx.types.contains(id);
        let old = self.values.insert(id, Val { ty, parts: parts.into() });
        ensure!(is_new && old.is_none(), "the id %{id} is defined twice");
        Ok(true)
    }

    /// Makes the result of an instruction, of the type that its first operand names.
    pub fn result(&mut self, inst: &Inst<'_>, value: Value) -> Result<bool> {
        let (ty, id) = inst.result()?;
        let ty = self.cx.types.get(ty)?;
        self.define(id, ty, vec![value])
    }

    /// The type in the IR of an instruction's result.
    pub fn result_type(&self, inst: &Inst<'_>) -> Result<Type> {
        self.cx.types.value(self.cx.types.get(inst.word(0)?)?)
    }

    /// A scalar, a vector or a pointer.
    pub fn one(&mut self, id: Id) -> Result<Value> {
        match self.value_of(id)?.parts[..] {
            [one] => Ok(one),
            _ => bail!("%{id} is not one number, vector or pointer"),
        }
    }

    pub fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// An integer, or a vector of integers.
    pub fn int(&mut self, id: Id) -> Result<Value> {
        let v = self.one(id)?;
        let ty = self.ty(v);
        ensure!(ty.is_int() && ty.scalar != cloom_ir::Scalar::I1, "%{id} is of type {ty}, not an integer");
        Ok(v)
    }

    /// A scalar integer.
    pub fn scalar_int(&mut self, id: Id) -> Result<Value> {
        let v = self.int(id)?;
        ensure!(!self.ty(v).is_vector(), "%{id} is a vector");
        Ok(v)
    }

    /// A float, or a vector of floats. Arithmetic in `half` needs the device's.
    pub fn float(&mut self, id: Id) -> Result<Value> {
        let v = self.one(id)?;
        let ty = self.ty(v);
        ensure!(ty.is_float(), "%{id} is of type {ty}, not a float");
        let half = ty.scalar == cloom_ir::Scalar::F16;
        ensure!(!half || self.cx.target.fp16, "the device does not compute with `half`");
        Ok(v)
    }

    /// A truth value, or a vector of them.
    pub fn truth_of(&mut self, id: Id) -> Result<Value> {
        let v = self.one(id)?;
        let ty = self.ty(v);
        ensure!(ty.scalar == cloom_ir::Scalar::I1, "%{id} is of type {ty}, not a truth value");
        Ok(v)
    }

    /// A pointer.
    pub fn pointer(&mut self, id: Id) -> Result<Value> {
        let v = self.one(id)?;
        ensure!(self.ty(v).is_ptr(), "%{id} is no pointer");
        Ok(v)
    }

    /// Refuses operands of different types.
    pub fn alike(&self, a: Value, b: Value) -> Result<()> {
        let (a, b) = (self.ty(a), self.ty(b));
        ensure!(a == b, "operands have types {a} and {b}");
        Ok(())
    }

    /// The permissions of a floating-point operation: those of the build options and its own.
    pub fn fast(&self, id: Id) -> Flags {
        let mut flags = self.cx.fast;
        if let Some(&[mode, ..]) = self.cx.module.decoration(id, Decoration::FPFastMathMode) {
            let mode = FPFastMathMode::from_bits_truncate(mode);
            for (bit, flag) in [
                (FPFastMathMode::NOT_NAN, Flags::NNAN),
                (FPFastMathMode::NOT_INF, Flags::NINF),
                (FPFastMathMode::NSZ, Flags::NSZ),
                (FPFastMathMode::ALLOW_RECIP, Flags::ARCP),
                (FPFastMathMode::ALLOW_REASSOC, Flags::REASSOC),
                (
                    FPFastMathMode::FAST,
                    Flags::NNAN | Flags::NINF | Flags::NSZ | Flags::ARCP | Flags::REASSOC | Flags::AFN,
                ),
            ] {
                if mode.contains(bit) {
                    flags |= flag;
                }
            }
        }
        flags
    }

    /// With the permissions of a floating-point operation.
    pub fn push_fast(&mut self, op: cloom_ir::Op, args: &[Value], ty: Type, id: Id) -> Result<Value> {
        let is_slow = matches!(op, cloom_ir::Op::Binary(BinOp::Fdiv) | cloom_ir::Op::Unary(UnOp::Sqrt));
        // As the front end of OpenCL C does, so that both languages give the same bits. The flag is for quotients and
        // roots of `f32` only (V49).
        let fpmath = self.cx.fpmath && is_slow && ty.scalar == Scalar::F32;
        let flags = self.fast(id) | if fpmath { Flags::FPMATH } else { Flags::empty() };
        match self.b().push(op, args.iter().copied().collect(), Some(ty), flags) {
            Some(v) => Ok(v),
            None => bail!("it has no result"),
        }
    }
}
