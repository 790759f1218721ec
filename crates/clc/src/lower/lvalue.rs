//! Lvalues: expressions that designate memory, and how it is loaded and stored.
//!
//! In comes a typed expression that is an lvalue; out comes its address as a value of the IR with the alignment that is
//! certain, and, for a swizzle such as `v.xz`, the components. Components of private vectors are written by loading and
//! storing the whole vector, which later passes keep in a register; elsewhere each component is one small store,
//! because another work-item may write its neighbours at the same time.

use super::func::Fn;
use crate::sema::tree::{Expr, ExprKind, NO_LANE};
use cloom_ir::{Flags, Space, Type, Value};
use smallvec::SmallVec;

/// A lowered lvalue.
#[derive(Clone, Debug)]
pub(super) enum Lvalue {
    /// A whole object.
    Memory { ptr: Value, align: u32, flags: Flags },
    /// Some components of a vector in memory.
    Lanes {
        ptr: Value,
        align: u32,
        flags: Flags,
        vector: Type,
        lanes: SmallVec<[u8; 16]>,
        /// The vector is a variable of this work-item: it may be read and written as a whole.
        own: bool,
    },
    /// One component, by a number that is known at run time, of a vector that is a variable of this work-item.
    Lane { ptr: Value, align: u32, flags: Flags, vector: Type, index: Value },
}

/// The alignment that is certain at an offset from an aligned address.
pub(super) fn align_at(align: u32, offset: u64) -> u32 {
    match offset {
        0 => align,
        // No alignment is greater than 4096, which attributes may ask for.
        o => align.min(1 << o.trailing_zeros().min(12)),
    }
}

impl Fn<'_, '_> {
    /// Lowers an lvalue; its address is computed here.
    pub fn lvalue(&mut self, e: &Expr) -> Lvalue {
        self.at(e.span);
        let flags = if e.ty.is_volatile { Flags::VOLATILE } else { Flags::empty() };
        if let ExprKind::Swizzle(base, lanes) = &e.kind {
            // Nobody else sees private memory.
            let own = base.ty.space == Space::Private;
            let vector = self.ir(base.ty.ty);
            let lanes = lanes.clone();
            return match self.lvalue(base) {
                Lvalue::Memory { ptr, align, .. } => Lvalue::Lanes { ptr, align, flags, vector, lanes, own },
                // The front end merges swizzles of swizzles, and the component at a number has no components.
                other => other,
            };
        }
        if let ExprKind::Lane(base, index) = &e.kind {
            let vector = self.ir(base.ty.ty);
            let (ptr, align) = self.address(base);
            let index = self.value(index);
            if base.ty.space == Space::Private {
                // A private vector is read and written as a whole, so that mem2reg can keep it in a register.
                return Lvalue::Lane { ptr, align, flags, vector, index };
            }
            // One small access, as to the element of an array.
            let bytes = vector.scalar.bytes();
            let at = self.scaled(index, u64::from(bytes));
            let ptr = self.b().ptr_add(ptr, at);
            return Lvalue::Memory { ptr, align: align.min(bytes), flags };
        }
        let (ptr, align) = self.address(e);
        Lvalue::Memory { ptr, align, flags }
    }

    /// The address of an object (of a record or array: of its value), and the alignment that is certain.
    pub fn address(&mut self, e: &Expr) -> (Value, u32) {
        self.at(e.span);
        let (size, natural) = self.lw.types.layout_of(e.ty).unwrap_or((1, 1));
        let natural = natural as u32;
        match &e.kind {
            ExprKind::Local(id) => self.local(*id),
            ExprKind::Global(id) => {
                let align = self.lw.unit.globals[id.0 as usize].align as u32;
                let g = self.lw.global(*id);
                let space = self.lw.module.globals[g].space;
                (self.b().global_addr(g, space), align)
            }
            // A pointer of unknown origin is aligned for its type, as C requires.
            ExprKind::Deref(p) => (self.value(p), natural.min(self.target_align(p))),
            ExprKind::Field(base, offset) => {
                let (ptr, align) = self.address(base);
                self.at(e.span);
                (self.b().ptr_offset(ptr, *offset), align_at(align, *offset))
            }
            ExprKind::Compound(id, init) => {
                let (ptr, align) = self.local(*id);
                // A literal is initialised each time that it is evaluated, also in a loop.
                self.init(ptr, align, e.ty.ty, init);
                (ptr, align)
            }
            ExprKind::Assign(target, value) => {
                let (to, to_align) = self.address(target);
                let (from, from_align) = self.address(value);
                self.copy(to, from, size, to_align.min(from_align));
                (to, to_align)
            }
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.address(b)
            }
            ExprKind::Statements(list, last) => {
                self.stmts(list);
                self.address(last)
            }
            ExprKind::Call(id, args) => {
                let room = self.temp(size, natural);
                self.call(*id, args, Some(room));
                (room, natural)
            }
            ExprKind::Cond(args) => {
                // The two may be in different address spaces: the value is copied.
                let [c, a, b] = &**args;
                let room = self.temp(size, natural);
                let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
                self.branch(c, yes, no);
                for (block, value) in [(yes, a), (no, b)] {
                    self.block = block;
                    let (from, align) = self.address(value);
                    self.copy(room, from, size, align.min(natural));
                    self.b().jump(end, &[]);
                }
                self.block = end;
                (room, natural)
            }
            // A value where an object is needed: it is stored in memory.
            _ => {
                let room = self.temp(size, natural);
                if !self.is_aggregate(e.ty.ty) {
                    let v = self.value(e);
                    self.b().store(room, v, natural, Flags::empty());
                }
                (room, natural)
            }
        }
    }

    /// The known alignment of a pointer's target, by the members that it was derived from: an array in a packed
    /// structure is packed too, though its elements are accessed through pointers.
    fn target_align(&self, p: &Expr) -> u32 {
        match &p.kind {
            ExprKind::PtrAdd(p, _, size) => align_at(self.target_align(p), *size),
            ExprKind::Addr(object) => self.object_align(object),
            _ => u32::MAX,
        }
    }

    fn object_align(&self, e: &Expr) -> u32 {
        match &e.kind {
            ExprKind::Field(base, offset) => {
                // A packed structure has an alignment of 1, which its members inherit.
                let natural = self.lw.types.align_of(base.ty) as u32;
                align_at(self.object_align(base).min(natural), *offset)
            }
            ExprKind::Deref(p) => self.target_align(p),
            _ => u32::MAX,
        }
    }

    /// Copies a record; a self-assignment does nothing.
    fn copy(&mut self, to: Value, from: Value, size: u64, align: u32) {
        if to != from && size > 0 {
            self.b().mem_copy(to, from, size, align);
        }
    }

    /// The value of an lvalue.
    pub fn load(&mut self, lvalue: &Lvalue, ty: Type) -> Value {
        match lvalue {
            Lvalue::Memory { ptr, align, flags } => self.b().load(ty, *ptr, *align, *flags),
            Lvalue::Lanes { ptr, align, flags, vector, lanes, own } => {
                if let (&[lane], false) = (&lanes[..], *own) {
                    // One component of a vector elsewhere is one small access.
                    // A component that does not exist is read as the last one: any value will do.
                    let lane = existing(lane, *vector);
                    let at = u64::from(lane) * u64::from(vector.scalar.bytes());
                    let p = self.b().ptr_offset(*ptr, at);
                    return self.b().load(vector.lane(), p, align_at(*align, at), *flags);
                }
                let whole = self.b().load(*vector, *ptr, *align, *flags);
                self.pick(whole, lanes)
            }
            Lvalue::Lane { ptr, align, flags, vector, index } => {
                let whole = self.b().load(*vector, *ptr, *align, *flags);
                self.b().extract(whole, *index)
            }
        }
    }

    /// Components of a vector.
    pub fn pick(&mut self, v: Value, lanes: &[u8]) -> Value {
        let vector = self.ty(v);
        if let [lane] = lanes {
            return self.b().extract_lane(v, u16::from(existing(*lane, vector)));
        }
        let mask: Vec<u16> = lanes.iter().map(|&l| u16::from(existing(l, vector))).collect();
        self.b().shuffle(v, v, &mask)
    }

    /// Stores a value.
    pub fn store(&mut self, lvalue: &Lvalue, v: Value) {
        match lvalue {
            Lvalue::Memory { ptr, align, flags } => self.b().store(*ptr, v, *align, *flags),
            Lvalue::Lanes { ptr, align, flags, vector, lanes, own } => {
                let single = lanes.len() == 1;
                if *own {
                    let mut whole = self.b().load(*vector, *ptr, *align, *flags);
                    // One load and one store of the whole, which mem2reg removes; components that do not exist are not
                    // written.
                    for (i, &lane) in lanes.iter().enumerate().filter(|(_, lane)| **lane != NO_LANE) {
                        let x = if single { v } else { self.b().extract_lane(v, i as u16) };
                        whole = self.b().insert_lane(whole, u16::from(lane), x);
                    }
                    self.b().store(*ptr, whole, *align, *flags);
                    return;
                }
                // Another work-item may own the other components: only these are written.
                for (i, &lane) in lanes.iter().enumerate().filter(|(_, lane)| **lane != NO_LANE) {
                    let x = if single { v } else { self.b().extract_lane(v, i as u16) };
                    let at = u64::from(lane) * u64::from(vector.scalar.bytes());
                    let p = self.b().ptr_offset(*ptr, at);
                    self.b().store(p, x, align_at(*align, at), *flags);
                }
            }
            Lvalue::Lane { ptr, align, flags, vector, index } => {
                let whole = self.b().load(*vector, *ptr, *align, *flags);
                let whole = self.b().insert(whole, *index, v);
                self.b().store(*ptr, whole, *align, *flags);
            }
        }
    }
}

/// A component to read: any that exists for one that does not.
fn existing(lane: u8, vector: Type) -> u8 {
    lane.min(vector.lanes.saturating_sub(1) as u8)
}
