//! The object of each address, by provenance: what it was computed from.
//!
//! A data flow over the pointers of a function, through `ptradd`, casts, `select` and parameters of blocks. It is
//! optimistic: what is not known yet agrees with everything, so that the pointer that a loop carries has the object of
//! its initial value. Where pointers to two objects meet, the size is carried beside the pointer ([`Root::Several`]).

use super::Parameter;
use super::alignment::{LowZeros, MOST};
use cloom_ir::abi::image;
use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, CastOp, Entity, FuncRef, Function, Global, Inst, Module, Op, Space, Value};

/// What an address points into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Object {
    /// So many bytes, by a parameter of the kernel.
    Sized { size: Value, is_read_only: bool },
    /// So many bytes. Two objects of one size count as one: the offset belongs to the address.
    Fixed { size: u64, is_read_only: bool },
    /// Memory that the library looks after.
    Unlimited,
}

impl Object {
    /// No object at all: null, or what nothing is known of.
    pub const NONE: Object = Object::Fixed { size: 0, is_read_only: true };

    /// Constant memory of so many bytes.
    pub fn constant(size: u64) -> Object {
        Object::Fixed { size, is_read_only: true }
    }

    fn of_global(global: &Global) -> Object {
        Object::Fixed { size: global.size, is_read_only: global.space == Space::Constant }
    }
}

/// What is known of the object of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    /// Nothing yet.
    Unknown,
    /// It is this one.
    One(Object),
    /// One of several. None of them may be written if one is read-only.
    Several { is_read_only: bool },
}

/// What is known of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fact {
    pub root: Root,
    /// The power of two that the address of the object is a multiple of,
    pub align: u8,
    /// and the one of the offset in it.
    pub zeros: u8,
    /// Whether it is in a constant of the program that ends with a zero.
    pub is_text: bool,
}

impl Fact {
    const UNKNOWN: Fact = Fact { root: Root::Unknown, align: MOST, zeros: MOST, is_text: true };
    /// From memory, from an integer, from a call: no object.
    const FOREIGN: Fact = Fact { root: Root::One(Object::NONE), align: 0, zeros: 0, is_text: false };

    fn of(object: Object, align: u8) -> Fact {
        Fact { root: Root::One(object), align: align.min(MOST), zeros: MOST, is_text: false }
    }

    fn moved(self, zeros: u8) -> Fact {
        Fact { zeros: self.zeros.min(zeros), is_text: false, ..self }
    }

    fn join(self, other: Fact) -> Fact {
        let root = match (self.root, other.root) {
            (Root::Unknown, root) | (root, Root::Unknown) => root,
            (a, b) if a == b => a,
            (a, b) => Root::Several { is_read_only: a.is_read_only() || b.is_read_only() },
        };
        Fact {
            root,
            align: self.align.min(other.align),
            zeros: self.zeros.min(other.zeros),
            is_text: self.is_text && other.is_text,
        }
    }
}

impl Root {
    /// Whether the object may not be written.
    pub fn is_read_only(self) -> bool {
        match self {
            // Nothing can be written at null, which does not say that what it meets cannot be written.
            Root::Unknown | Root::One(Object::NONE | Object::Unlimited) => false,
            Root::One(Object::Sized { is_read_only, .. } | Object::Fixed { is_read_only, .. })
            | Root::Several { is_read_only } => is_read_only,
        }
    }
}

/// What is known of the addresses of a function.
pub(super) struct Roots {
    facts: Vec<Fact>,
    pub zeros: LowZeros,
}

impl Roots {
    /// What is known of the addresses of a function. `parameters` is what the parameters of a kernel point to; what
    /// other functions get is not known.
    pub fn new(module: &Module, f: FuncRef, parameters: &[Parameter]) -> Roots {
        let func = &module.funcs[f];
        let cfg = Cfg::new(func);
        let mut roots = Roots { facts: vec![Fact::UNKNOWN; func.values.len()], zeros: LowZeros::new(func, &cfg) };
        for (n, &p) in func.param_values().iter().enumerate() {
            roots.facts[p.index()] = match parameters.get(n) {
                Some(parameter) => Fact::of(parameter.object, parameter.align),
                None => Fact::FOREIGN,
            };
        }
        // Each round that changes something lowers a fact, which has few values.
        let mut changed = true;
        while changed {
            changed = false;
            for &b in cfg.rpo() {
                for &i in &func.blocks[b].insts {
                    if let Some(result) = func.insts[i].result.filter(|&r| func.ty(r).is_ptr()) {
                        changed |= roots.lower(result, roots.result(module, func, i));
                    }
                }
                for edge in func.blocks[b].term.edges() {
                    for (&p, &arg) in func.blocks[edge.block].params.iter().zip(&edge.args) {
                        if func.ty(p).is_ptr() {
                            changed |= roots.lower(p, roots.get(arg));
                        }
                    }
                }
            }
        }
        roots
    }

    /// What is known of an address. Nothing is known of one that is never reached.
    pub fn get(&self, v: Value) -> Fact {
        self.facts.get(v.index()).copied().unwrap_or(Fact::FOREIGN)
    }

    fn lower(&mut self, v: Value, to: Fact) -> bool {
        let old = &mut self.facts[v.index()];
        let new = old.join(to);
        let is_lower = new != *old;
        *old = new;
        is_lower
    }

    /// Whether an address a constant offset away from that of a global is in a text.
    fn is_text_at(&self, module: &Module, func: &Function, base: Value, offset: Value) -> bool {
        let Some(&Op::GlobalAddr(g)) = func.def_op(base) else { return false };
        let global = &module.globals[g];
        is_text(global) && func.const_bits(offset).is_some_and(|offset| offset < global.size)
    }

    fn result(&self, module: &Module, func: &Function, i: Inst) -> Fact {
        let data = &func.insts[i];
        let arg = |k: usize| self.get(data.args[k]);
        match &data.op {
            _ if data.result.is_some_and(|r| func.ty(r).is_vector()) => Fact::FOREIGN,
            Op::Alloca { size, align, .. } => {
                Fact::of(Object::Fixed { size: *size, is_read_only: false }, align.trailing_zeros() as u8)
            }
            Op::GlobalAddr(g) => {
                let global = &module.globals[*g];
                let fact = Fact::of(Object::of_global(global), global.align.trailing_zeros() as u8);
                Fact { is_text: is_text(global), ..fact }
            }
            Op::PtrAdd => {
                let moved = arg(0).moved(self.zeros.get(data.args[1]));
                Fact { is_text: self.is_text_at(module, func, data.args[0], data.args[1]), ..moved }
            }
            Op::Cast(CastOp::Space | CastOp::Bitcast) if func.ty(data.args[0]).is_ptr() => arg(0),
            Op::Cast(CastOp::IntToPtr) => match pointer_in(func, data.args[0]) {
                Some(p) => self.get(p).moved(0),
                None => Fact::FOREIGN,
            },
            Op::Select => arg(1).join(arg(2)),
            Op::Load { .. } if is_image_data(func, data.args[0]) => Fact::of(Object::Unlimited, MOST),
            _ => Fact::FOREIGN,
        }
    }
}

/// Whether a global is constant and ends with a zero.
fn is_text(global: &Global) -> bool {
    let has_rest = global.size > global.init.len() as u64;
    global.space == Space::Constant && global.size > 0 && (has_rest || global.init.last() == Some(&0))
}

/// Whether an address is that of the field of an image's descriptor with the address of its elements.
fn is_image_data(func: &Function, address: Value) -> bool {
    let is_image = |v: Value| {
        let n = func.param_values().iter().position(|&p| p == v);
        let meta = func.kernel.as_deref();
        n.zip(meta).and_then(|(n, meta)| meta.params.get(n)).is_some_and(|p| p.kind == cloom_ir::ParamKind::Image)
    };
    match func.def_inst(address).map(|i| &func.insts[i]) {
        Some(data) if data.op == Op::PtrAdd => {
            is_image(data.args[0]) && func.const_bits(data.args[1]) == Some(image::DATA as u64)
        }
        Some(_) => false,
        None => image::DATA == 0 && is_image(address),
    }
}

/// The pointer that an integer was computed from, if it is one: `(uintptr_t)p & ~15`.
pub(super) fn pointer_in(func: &Function, v: Value) -> Option<Value> {
    const STEPS: usize = 8;
    let mut v = v;
    for _ in 0..STEPS {
        let data = &func.insts[func.def_inst(v)?];
        let is_number = |k: usize| func.const_bits(data.args[k]).is_some();
        v = match data.op {
            Op::Cast(CastOp::PtrToInt) => return Some(data.args[0]),
            Op::Binary(BinOp::Add | BinOp::And | BinOp::Or) if is_number(0) => data.args[1],
            Op::Binary(BinOp::Add | BinOp::And | BinOp::Or | BinOp::Sub) => data.args[0],
            _ => return None,
        };
    }
    None
}
