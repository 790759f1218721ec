//! The instructions that touch memory, of one work-item: loads, stores, copies, atomic operations, printf.
//!
//! Each access is checked and told to the observer. Where the observer follows values, it also decides whether a run
//! goes on after an access that is wrong, and the bits of values that come from unwritten memory move with them.

use crate::code::{Code, Lanes, Reg};
use crate::fault::FaultKind;
use crate::observe::{Access, AccessKind, Observer, Printed, Use};
use crate::registers::bits;
use crate::running::Running;
use crate::shadow::{NULL, Undefined};
use cloom_ir::{BinOp, Mark, Order, RmwOp, Scalar, Scope, Space, Type, abi, eval};
use std::ops::Range;

/// A value, and the undefined bits of its bytes, if it has any.
type Read = (u64, Vec<(u8, u32)>);

impl<O: Observer> Running<'_, '_, O> {
    fn access(&self, kind: AccessKind, address: u64, size: u64) -> Access {
        Access { kind, atomic: None, address, size, at: self.at }
    }

    #[inline]
    fn check_align(address: u64, align: u32) -> Result<(), FaultKind> {
        if address & u64::from(align - 1) == 0 { Ok(()) } else { Err(FaultKind::Misaligned { address, align }) }
    }

    /// Bits of one lane in memory, and whether they were written.
    fn read(&mut self, ty: Scalar, address: u64, atomic: Option<(Order, Scope)>) -> Result<(u64, bool), FaultKind> {
        let size = u64::from(ty.bytes());
        let (bytes, written) = self.shared.memory.read(address, size)?;
        let x = bits(bytes);
        let access = Access { atomic, ..self.access(AccessKind::Load, address, size) };
        self.shared.observer.access(&access);
        if !written {
            self.shared.observer.uninitialised(&access);
        }
        Ok((x, written))
    }

    fn write(&mut self, ty: Scalar, address: u64, x: u64, atomic: Option<(Order, Scope)>) -> Result<(), FaultKind> {
        let size = ty.bytes() as usize;
        let bytes = &x.to_le_bytes()[..size];
        self.shared.memory.write(address, size as u64)?.copy_from_slice(bytes);
        let access = Access { atomic, ..self.access(AccessKind::Store, address, size as u64) };
        self.shared.observer.stored(&access, bytes);
        Ok(())
    }

    /// The value that an atomic operation reads into `d`, and the undefined bits of its bytes. The operation depends on
    /// it if it was never written.
    fn read_atomic(&mut self, ty: Scalar, d: Reg, address: u64, atomic: (Order, Scope)) -> Result<Read, FaultKind> {
        let (x, written) = self.read(ty, address, Some(atomic))?;
        if O::FOLLOWS_VALUES {
            let load = self.access(AccessKind::Load, address, u64::from(ty.bytes()));
            self.load_definedness(Lanes { ty, n: 1 }, d, &load, written);
            if !written {
                let bytes = self.undefined_bytes(&load);
                let origin = bytes.iter().find(|b| b.0 != 0).map_or(0, |b| b.1);
                self.shared.observer.undefined(Use::Atomic, origin, &self.at);
                return Ok((x, bytes));
            }
        }
        Ok((x, Vec::new()))
    }

    /// The undefined bits of the bytes of a load, and where they come from: from here, if nothing has written them.
    fn undefined_bytes(&mut self, load: &Access) -> Vec<(u8, u32)> {
        let mut bytes = self.shared.memory.undefined(load.address, load.size);
        let mut here = None;
        for (_, origin) in bytes.iter_mut().filter(|b| b.0 != 0 && b.1 == 0) {
            *origin = *here.get_or_insert_with(|| self.shared.observer.origin(load));
        }
        bytes
    }

    /// The undefined bits of memory come with what is loaded.
    fn load_definedness(&mut self, l: Lanes, d: Reg, load: &Access, defined: bool) {
        let bytes = if defined { Vec::new() } else { self.undefined_bytes(load) };
        self.set_undefined_lanes(l, d, &bytes);
    }

    /// Sets the undefined bits of lanes by those of their bytes; what comes after these is defined.
    fn set_undefined_lanes(&mut self, l: Lanes, d: Reg, bytes: &[(u8, u32)]) {
        let size = l.ty.bytes() as usize;
        for i in 0..l.n {
            let lane = bytes.get(i as usize * size..).unwrap_or_default();
            let undefined = lane.iter().take(size).rev().fold(Undefined::default(), |u, &(bits, origin)| Undefined {
                bits: u.bits << 8 | u64::from(bits),
                origin: if bits != 0 { origin } else { u.origin },
                base: 0,
            });
            self.set_undefined(d + i, undefined);
        }
    }

    /// The undefined bits of what is stored go to memory, or are told if others see it.
    fn store_definedness(&mut self, l: Lanes, address: u64, b: Reg) {
        let lanes = b as usize..(b + l.n) as usize;
        let undefined = self.defined.get(lanes).unwrap_or_default();
        if undefined.iter().all(|u| u.bits == 0) {
            return;
        }
        if self.shared.memory.is_shared(address) {
            self.uses(Use::Store, b..b + l.n);
            return;
        }
        let size = l.ty.bytes() as usize;
        // A vector of which one component is set is read and written as a whole: what is written back was still never
        // written.
        let observer = &*self.shared.observer;
        let origin = |u: &Undefined| if observer.is_origin(u.origin, address) { 0 } else { u.origin };
        let of_lane = |u: &Undefined| u.bits.to_le_bytes().map(|bits| (bits, origin(u)));
        let bytes: Vec<(u8, u32)> = undefined.iter().flat_map(|u| of_lane(u).into_iter().take(size)).collect();
        self.shared.memory.set_undefined(address, &bytes);
    }

    /// After a fault: an observer that follows values may let the run go on, as devices do. What lies inside of the
    /// object is read and written; instead of other bytes zeros are loaded, and what is stored there is dropped.
    #[cold]
    pub fn go_on_after(&mut self, fault: &FaultKind, code: &Code) -> Result<(), FaultKind> {
        let access = match (fault, code) {
            (FaultKind::ReadOnly(_), _) => AccessKind::Store,
            // A wait reads its list of events.
            (_, Code::Load { .. } | Code::LoadLanes { .. } | Code::AtomicLoad { .. } | Code::Mark { .. }) => {
                AccessKind::Load
            }
            // An operation that reads and writes faults when it reads; it is called a write, which is worse.
            _ => AccessKind::Store,
        };
        if !O::FOLLOWS_VALUES || !self.shared.observer.fault(fault, access, &self.at) {
            return Err(fault.clone());
        }
        match *fault {
            FaultKind::ReadOnly(address) if self.shared.memory.lift_guard(address) => {
                let written = self.memory(code);
                self.shared.memory.guard(address);
                return written;
            }
            FaultKind::OutOfBounds { offset, size, object, base } => {
                self.leave_out(code);
                let begin = offset.min(0).unsigned_abs();
                let end = i128::from(object) - i128::from(offset);
                let is_guarded = self.shared.memory.lift_guard(base);
                // An error is a write to a constant, which stays as it is.
                self.access_part(code, begin..u64::try_from(end).unwrap_or(0).min(size)).ok();
                if is_guarded {
                    self.shared.memory.guard(base);
                }
            }
            _ => self.leave_out(code),
        }
        Ok(())
    }

    /// Of an access only these bytes, counted from its first one.
    fn access_part(&mut self, code: &Code, part: Range<u64>) -> Result<(), FaultKind> {
        if part.is_empty() {
            return Ok(());
        }
        let (begin, len) = (part.start, part.end - part.start);
        match *code {
            Code::Load { l, d, a, .. } => {
                let address = self.get(a).wrapping_add(begin);
                let access = self.access(AccessKind::Load, address, len);
                let (bytes, written) = self.shared.memory.read(address, len)?;
                let whole = [&vec![0; begin as usize], bytes].concat();
                for (i, lane) in (0..l.n).zip(whole.chunks(l.ty.bytes() as usize)) {
                    self.set(d + i, bits(lane));
                }
                self.shared.observer.access(&access);
                if !written {
                    self.shared.observer.uninitialised(&access);
                    let undefined = self.undefined_bytes(&access);
                    let whole: Vec<(u8, u32)> = std::iter::repeat_n((0, 0), begin as usize).chain(undefined).collect();
                    self.set_undefined_lanes(l, d, &whole);
                }
            }
            Code::Store { l, a, b, .. } => {
                let address = self.get(a).wrapping_add(begin);
                let access = self.access(AccessKind::Store, address, len);
                let lane = |r: Reg| self.get(r).to_le_bytes().into_iter().take(l.ty.bytes() as usize);
                let whole: Vec<u8> = (b..b + l.n).flat_map(lane).collect();
                let bytes = &whole[begin as usize..part.end as usize];
                self.shared.memory.write(address, len)?.copy_from_slice(bytes);
                self.shared.observer.stored(&access, bytes);
            }
            Code::MemCopy { a, b, .. } => {
                let (to, from) = (self.get(a).wrapping_add(begin), self.get(b).wrapping_add(begin));
                // The other side may lie outside, too: one fault of an instruction is enough.
                if self.shared.memory.copy(to, from, len).is_ok() {
                    let (load, store) =
                        (self.access(AccessKind::Load, from, len), self.access(AccessKind::Store, to, len));
                    self.shared.observer.access(&load);
                    self.shared.observer.access(&store);
                }
            }
            Code::MemSet { byte, a, .. } => {
                let address = self.get(a).wrapping_add(begin);
                let access = self.access(AccessKind::Store, address, len);
                self.shared.memory.write(address, len)?.fill(byte);
                self.shared.observer.access(&access);
            }
            // An atomic operation is one access.
            _ => {}
        }
        Ok(())
    }

    /// Instead of an access: what would be loaded is zero.
    pub fn leave_out(&mut self, code: &Code) {
        let (d, n) = match *code {
            Code::Load { l, d, .. } | Code::LoadLanes { l, d, .. } => (d, l.n),
            Code::Rmw { d, .. } | Code::CmpXchg { d, .. } | Code::AtomicLoad { d, .. } => (d, 1),
            _ => (0, 0),
        };
        for r in d..d + n {
            self.set(r, 0);
            self.set_undefined(r, Undefined::default());
        }
    }

    /// The address of a lane of a masked access: `a` has one address for all lanes, or `apart` one for each.
    fn lane_address(&self, l: Lanes, align: u32, apart: bool, a: Reg, lane: u32) -> Result<u64, FaultKind> {
        // The alignment of a consecutive access is that of its first lane, also if that is off.
        let (first, offset) = if apart { (self.get(a + lane), 0) } else { (self.get(a), lane * l.ty.bytes()) };
        Self::check_align(first, align)?;
        Ok(first.wrapping_add(u64::from(offset)))
    }

    /// Whether an access of so many bytes leaves the object that its address was made from. An address far outside may
    /// be one of another object by chance, or look like one just before the next object.
    fn check_base(&self, a: Reg, size: u64) -> Result<(), FaultKind> {
        let (base, address) = (self.base(a), self.get(a) & Space::ADDRESS_MASK);
        let is_near = u64::from(base) == address >> 32 && address & 1 << 31 == 0;
        if base == 0 || is_near {
            return Ok(());
        }
        if base == NULL {
            return Err(FaultKind::Null { offset: address as i64, size });
        }
        let object = u64::from(base) << 32;
        if u64::from(base) == address >> 32 && self.shared.memory.read(address, size).is_ok() {
            return Ok(());
        }
        // Addresses wrap below the tag.
        let above = u64::BITS - Space::TAG_SHIFT;
        let offset = (address.wrapping_sub(object) << above) as i64 >> above;
        Err(self.shared.memory.outside(object, offset, size))
    }

    /// The same for all addresses of an instruction.
    fn check_bases(&self, code: &Code) -> Result<(), FaultKind> {
        match *code {
            Code::Load { l, a, .. } | Code::Store { l, a, .. } => {
                self.check_base(a, u64::from(l.ty.bytes()) * u64::from(l.n))
            }
            Code::Rmw { ty, a, .. }
            | Code::CmpXchg { ty, a, .. }
            | Code::AtomicLoad { ty, a, .. }
            | Code::AtomicStore { ty, a, .. } => self.check_base(a, u64::from(ty.bytes())),
            Code::MemCopy { size, a, b, .. } => self.check_base(a, size).and_then(|()| self.check_base(b, size)),
            Code::MemSet { size, a, .. } => self.check_base(a, size),
            _ => Ok(()),
        }
    }

    pub fn memory(&mut self, code: &Code) -> Result<(), FaultKind> {
        if O::FOLLOWS_VALUES {
            self.check_bases(code)?;
        }
        match *code {
            Code::Load { l, align, d, a } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                let size = u64::from(l.ty.bytes());
                let (bytes, written) = self.shared.memory.read(address, size * u64::from(l.n))?;
                for (slot, lane) in self.r[d as usize..].iter_mut().zip(bytes.chunks(size as usize)) {
                    *slot = bits(lane);
                }
                let access = self.access(AccessKind::Load, address, size * u64::from(l.n));
                self.shared.observer.access(&access);
                if !written {
                    self.shared.observer.uninitialised(&access);
                }
                if O::FOLLOWS_VALUES {
                    self.load_definedness(l, d, &access, written);
                }
            }
            Code::Store { l, align, a, b } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                let size = l.ty.bytes() as usize;
                let access = self.access(AccessKind::Store, address, size as u64 * u64::from(l.n));
                let bytes = self.shared.memory.write(address, access.size)?;
                for (lane, x) in bytes.chunks_mut(size).zip(&self.r[b as usize..]) {
                    lane.copy_from_slice(&x.to_le_bytes()[..size]);
                }
                self.shared.observer.stored(&access, bytes);
                if O::FOLLOWS_VALUES {
                    self.store_definedness(l, address, b);
                }
            }
            // Lanes that are off touch nothing: their addresses may be anything.
            Code::LoadLanes { l, align, apart, d, a, b } => {
                for lane in 0..l.n {
                    let mut x = 0;
                    if self.get(b + lane) != 0 {
                        let address = self.lane_address(l, align, apart, a, lane)?;
                        x = self.read(l.ty, address, None)?.0;
                    }
                    self.set(d + lane, x);
                }
            }
            Code::StoreLanes { l, align, apart, a, b, c } => {
                for lane in 0..l.n {
                    if self.get(c + lane) != 0 {
                        let address = self.lane_address(l, align, apart, a, lane)?;
                        self.write(l.ty, address, self.get(b + lane), None)?;
                    }
                }
            }
            Code::MemCopy { size, align, a, b } => {
                let (to, from) = (self.get(a), self.get(b));
                Self::check_align(to, align)?;
                Self::check_align(from, align)?;
                // One instruction may copy gigabytes: the budget counts sixteen bytes as one instruction.
                self.spend(size / 16)?;
                let load = self.access(AccessKind::Load, from, size);
                let store = self.access(AccessKind::Store, to, size);
                if size > 0 {
                    // Copies keep unwritten bytes unwritten, and their use is reported: padding is copied too.
                    let defined = self.shared.memory.copy(to, from, size)?;
                    self.shared.observer.access(&load);
                    self.shared.observer.access(&store);
                    if O::FOLLOWS_VALUES && !defined {
                        let bytes = self.undefined_bytes(&load);
                        self.shared.memory.set_undefined(to, &bytes);
                    }
                }
            }
            Code::MemSet { size, byte, align, a } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                self.spend(size / 16)?;
                if size > 0 {
                    self.shared.memory.write(address, size)?.fill(byte);
                    let access = self.access(AccessKind::Store, address, size);
                    self.shared.observer.access(&access);
                }
            }
            Code::Rmw { .. } | Code::CmpXchg { .. } | Code::AtomicLoad { .. } | Code::AtomicStore { .. } => {
                self.atomic(code)?;
            }
            Code::Fence { order, scope } => self.shared.observer.fence(self.at.item, order, scope, self.at.span),
            Code::Printf { format, item, ref args } => {
                let printed = Printed { format, item: self.get(item), args: self.pack(args) };
                self.shared.observer.printf(printed);
            }
            Code::Mark { mark, d, a, b } => self.mark(mark, d, a, b)?,
            Code::DeviceCall => return Err(FaultKind::NoLauncher),
            Code::Sample => return Err(FaultKind::NoTextures),
            // The other instructions are executed in the main loop.
            _ => return Err(FaultKind::Unreachable),
        }
        Ok(())
    }

    /// An atomic operation. Atomic because no other work-item has a turn between its two accesses.
    fn atomic(&mut self, code: &Code) -> Result<(), FaultKind> {
        match *code {
            Code::Rmw { op: RmwOp::Xchg, atomic, ty, d, a, b } => {
                let (address, x) = (self.get(a), self.get(b));
                Self::check_align(address, ty.bytes())?;
                let (old, written) = self.read(ty, address, Some(atomic))?;
                if O::FOLLOWS_VALUES {
                    // An exchange does not depend on the old value, as a store does not.
                    let load = self.access(AccessKind::Load, address, u64::from(ty.bytes()));
                    self.load_definedness(Lanes { ty, n: 1 }, d, &load, written);
                }
                self.write(ty, address, x, Some(atomic))?;
                self.set(d, old);
            }
            Code::Rmw { op, atomic, ty, d, a, b } => {
                let (address, x) = (self.get(a), self.get(b));
                Self::check_align(address, ty.bytes())?;
                let (old, undefined) = self.read_atomic(ty, d, address, atomic)?;
                self.write(ty, address, combine(op, ty, old, x), Some(atomic))?;
                // A sum with an undefined number is none.
                self.shared.memory.set_undefined(address, &undefined);
                self.set(d, old);
            }
            Code::CmpXchg { atomic, ty, d, a, b, c } => {
                let (address, expected, new) = (self.get(a), self.get(b), self.get(c));
                Self::check_align(address, ty.bytes())?;
                let (old, _) = self.read_atomic(ty, d, address, atomic)?;
                // A comparison that fails is a load.
                if old == expected {
                    self.write(ty, address, new, Some(atomic))?;
                }
                self.set(d, old);
            }
            Code::AtomicLoad { atomic, ty, d, a } => {
                let address = self.get(a);
                Self::check_align(address, ty.bytes())?;
                let (x, _) = self.read_atomic(ty, d, address, atomic)?;
                self.set(d, x);
            }
            Code::AtomicStore { atomic, ty, a, b } => {
                let (address, x) = (self.get(a), self.get(b));
                Self::check_align(address, ty.bytes())?;
                self.write(ty, address, x, Some(atomic))?;
            }
            _ => return Err(FaultKind::Unreachable),
        }
        Ok(())
    }

    fn mark(&mut self, mark: Mark, d: Reg, a: Reg, b: Reg) -> Result<(), FaultKind> {
        let x = self.get(a);
        if mark == Mark::Copy {
            // A copy that is added to an event is waited for with it.
            let event = if x == 0 { self.next_event() } else { x };
            self.set(d, event);
            if O::FOLLOWS_VALUES {
                self.shared.observer.copy_begins(event, &self.at);
            }
        }
        if !O::FOLLOWS_VALUES {
            return Ok(());
        }
        match mark {
            Mark::Copy => {}
            Mark::Argument => self.shared.observer.copy_argument(x, &self.at),
            Mark::Index(count) => self.shared.observer.index(x as i64, count, self.get(b), &self.at),
            Mark::Begin(_) => self.shared.memory.begin(x),
            Mark::End => self.shared.memory.end(x),
            Mark::Wait => return self.wait(x & 0xffff_ffff, b),
        }
        Ok(())
    }

    /// Waits for so many events of a list, and for those that there are if it is shorter.
    fn wait(&mut self, count: u64, list: Reg) -> Result<(), FaultKind> {
        let begin = self.get(list);
        let mut events = Vec::new();
        let mut result = self.check_base(list, 8 * count);
        for at in (0..count).map(|i| begin.wrapping_add(8 * i)) {
            match self.shared.memory.read(at, 8) {
                Ok((bytes, _)) => events.push(bits(bytes)),
                Err(_) => break,
            }
        }
        if result.is_ok() && events.len() as u64 != count {
            result = self.shared.memory.read(begin, 8 * count).map(|_| ());
        }
        self.shared.observer.copies_end(&events, &self.at);
        result
    }

    /// The block of arguments of a printf.
    fn pack(&self, args: &[(Reg, Type)]) -> Vec<u8> {
        let (offsets, size) = abi::printf_layout(args.iter().map(|a| a.1));
        let mut block = vec![0; size as usize];
        for (&(r, ty), at) in args.iter().zip(offsets) {
            let size = ty.scalar.bytes() as usize;
            for i in 0..usize::from(ty.lanes) {
                let at = at as usize + i * size;
                block[at..at + size].copy_from_slice(&self.r[r as usize + i].to_le_bytes()[..size]);
            }
        }
        block
    }
}

fn combine(op: RmwOp, ty: Scalar, old: u64, x: u64) -> u64 {
    let op = match op {
        RmwOp::Xchg => return x,
        RmwOp::Add => BinOp::Add,
        RmwOp::Sub => BinOp::Sub,
        RmwOp::And => BinOp::And,
        RmwOp::Or => BinOp::Or,
        RmwOp::Xor => BinOp::Xor,
        RmwOp::Smin => BinOp::Smin,
        RmwOp::Smax => BinOp::Smax,
        RmwOp::Umin => BinOp::Umin,
        RmwOp::Umax => BinOp::Umax,
        RmwOp::Fadd => BinOp::Fadd,
        RmwOp::Fmin => BinOp::Fmin,
        RmwOp::Fmax => BinOp::Fmax,
    };
    eval::binary(op, ty, old, x)
}
