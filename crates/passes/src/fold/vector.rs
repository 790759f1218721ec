//! Rules for short vectors: an extraction of an inserted lane is that lane; bitcasts of constants are constants.

use super::{Folded, Folder};
use cloom_ir::{Args, Flags, Op, Scalar, Type, Value};
use smallvec::smallvec;

/// Vectors longer than OpenCL's are left as they are.
const MAX_LANES: u16 = 16;

/// How many operations deep a component of a vector is computed alone.
const MAX_DEPTH: u32 = 4;

impl Folder<'_> {
    /// The index, if it is a constant.
    fn lane_number(&self, v: Value, lanes: u16) -> Option<u16> {
        // An index beyond the lanes counts modulo their number.
        Some((self.bits(v)? % u64::from(lanes)) as u16)
    }

    pub(super) fn extract(&mut self, v: Value, lane: Value) -> Folded {
        let lanes = self.func.ty(v).lanes;
        // Whatever the index is, also an unknown one.
        if let Some((Op::Splat, args)) = self.def(v) {
            return Folded::Is(args[0]);
        }
        if let Some(bits) = self.bits(v) {
            return Folded::Const(bits);
        }
        let Some(k) = self.lane_number(lane, lanes) else { return Folded::Keep };
        match self.def(v) {
            Some((Op::Iota, _)) => Folded::Const(k.into()),
            Some((Op::Build, args)) => Folded::Is(args[usize::from(k)]),
            Some((Op::Insert, args)) => {
                let (base, at, x) = (args[0], args[1], args[2]);
                match self.lane_number(at, lanes) {
                    Some(at) if at == k => Folded::Is(x),
                    Some(_) => Folded::Becomes(Op::Extract, smallvec![base, lane], Flags::empty()),
                    // The insertion may have written this lane or another one.
                    None => Folded::Keep,
                }
            }
            Some((Op::Shuffle(mask), args)) => {
                let (m, a, b) = (mask[usize::from(k)], args[0], args[1]);
                self.pick(a, b, m)
            }
            // Last, since it copies operations: the vector stays where it has other uses.
            _ if lanes <= MAX_LANES && self.has_components(v, MAX_DEPTH) => Folded::Is(self.component(v, k)),
            _ => Folded::Keep,
        }
    }

    /// Whether a vector is made by lane-wise operations from vectors whose components are values.
    fn has_components(&self, v: Value, depth: u32) -> bool {
        match self.def(v) {
            Some((Op::Build | Op::Splat | Op::Const(_), _)) => true,
            Some((op, args)) if depth > 0 && op.is_lane_wise() => {
                let same_lanes = |a: Value| self.func.ty(a).lanes == self.func.ty(v).lanes;
                // A `select` by one condition for the whole vector has an operand of another shape.
                args.iter().all(|&a| same_lanes(a) && self.has_components(a, depth - 1))
            }
            _ => false,
        }
    }

    /// Component `k` of a vector that [has components](Self::has_components), computed alone. (The coordinates of a
    /// pixel are such a vector: along a row its second component is the same for all work-items, and its address
    /// consecutive, which a vector of both does not show.)
    fn component(&mut self, v: Value, k: u16) -> Value {
        let ty = self.func.ty(v).lane();
        let Some(inst) = self.func.def_inst(v) else { return v };
        let data = self.func.insts[inst].clone();
        match data.op {
            Op::Build => data.args[usize::from(k)],
            Op::Splat => data.args[0],
            Op::Const(bits) => self.iconst(ty, bits),
            op => {
                let args = data.args.iter().map(|&a| self.component(a, k)).collect();
                self.emit_with(op, args, ty, data.flags)
            }
        }
    }

    /// Lane `m` of the lanes of `a` then `b`.
    fn pick(&mut self, a: Value, b: Value, m: u16) -> Folded {
        let lanes = self.func.ty(a).lanes;
        let (v, m) = if m < lanes { (a, m) } else { (b, m - lanes) };
        // A vector of one lane is the scalar itself.
        if lanes == 1 {
            return Folded::Is(v);
        }
        let lane = self.iconst(Type::I32, m.into());
        Folded::Becomes(Op::Extract, smallvec![v, lane], Flags::empty())
    }

    pub(super) fn insert(&mut self, v: Value, lane: Value, x: Value, ty: Type) -> Folded {
        let Some(k) = self.lane_number(lane, ty.lanes) else { return Folded::Keep };
        // A lane extracted from a vector and inserted at the same index.
        if let Some((Op::Extract, args)) = self.def(x)
            && args[0] == v
            && self.lane_number(args[1], ty.lanes) == Some(k)
        {
            return Folded::Is(v);
        }
        if ty.lanes > MAX_LANES {
            return Folded::Keep;
        }
        // A chain of insertions becomes one `build`, whose lanes later extractions find directly.
        match self.lanes(v) {
            Some(mut lanes) => {
                lanes[usize::from(k)] = x;
                Folded::Becomes(Op::Build, lanes, Flags::empty())
            }
            None => Folded::Keep,
        }
    }

    /// The value of each lane, if all are known.
    fn lanes(&mut self, v: Value) -> Option<Args> {
        let ty = self.func.ty(v);
        if !ty.is_vector() {
            return Some(smallvec![v]);
        }
        if let Some(bits) = self.bits(v) {
            let lane = self.iconst(ty.lane(), bits);
            return Some(std::iter::repeat_n(lane, ty.lanes.into()).collect());
        }
        match self.def(v)? {
            (Op::Build, args) => Some(args.iter().copied().collect()),
            (Op::Splat, args) => Some(std::iter::repeat_n(args[0], ty.lanes.into()).collect()),
            _ => None,
        }
    }

    /// A vector of constants bitcast to other lanes.
    pub(super) fn constant_bytes(&mut self, a: Value, ty: Type) -> Folded {
        let from = self.func.ty(a);
        let plain = |ty: Type| !ty.is_ptr() && ty.scalar != Scalar::I1 && ty.lanes.is_power_of_two();
        let same_size = from.scalar.bits() * u32::from(from.lanes) == ty.scalar.bits() * u32::from(ty.lanes);
        if !plain(from) || !plain(ty) || !same_size || from.lanes.max(ty.lanes) > MAX_LANES {
            return Folded::Keep;
        }
        let Some(lanes) = self.lanes(a) else { return Folded::Keep };
        let Some(bits) = lanes.iter().map(|&lane| self.bits(lane)).collect::<Option<Vec<u64>>>() else {
            return Folded::Keep;
        };
        let bytes: Vec<u8> =
            bits.iter().flat_map(|b| b.to_le_bytes().into_iter().take(from.scalar.bytes() as usize)).collect();
        // Little-endian, as memory is.
        let number = |b: &[u8]| b.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let numbers: Vec<u64> = bytes.chunks_exact(ty.scalar.bytes() as usize).map(number).collect();
        match numbers[..] {
            [one] => Folded::Const(one),
            _ => {
                let args = numbers.iter().map(|&n| self.iconst(ty.lane(), n)).collect();
                Folded::Becomes(Op::Build, args, Flags::empty())
            }
        }
    }

    pub(super) fn shuffle(&mut self, a: Value, b: Value, mask: &[u16], ty: Type) -> Folded {
        let lanes = self.func.ty(a).lanes;
        if let &[m] = mask {
            return self.pick(a, b, m);
        }
        if ty.lanes == lanes {
            if mask.iter().enumerate().all(|(i, &m)| usize::from(m) == i) {
                return Folded::Is(a);
            }
            if mask.iter().enumerate().all(|(i, &m)| usize::from(m) == i + usize::from(lanes)) {
                return Folded::Is(b);
            }
        }
        let picked = |m: &u16| if *m < lanes { a } else { b };
        if let Some((Op::Splat, args)) = self.def(picked(&mask[0]))
            && mask.iter().all(|m| picked(m) == picked(&mask[0]))
        {
            return Folded::Becomes(Op::Splat, smallvec![args[0]], Flags::empty());
        }
        if ty.lanes > MAX_LANES {
            return Folded::Keep;
        }
        // Only operands that the mask selects from need to be known.
        let from_a = mask.iter().any(|&m| m < lanes);
        let from_b = mask.iter().any(|&m| m >= lanes);
        let known_a = if from_a { self.lanes(a) } else { Some(Args::new()) };
        let known_b = if from_b { self.lanes(b) } else { Some(Args::new()) };
        let (Some(known_a), Some(known_b)) = (known_a, known_b) else { return Folded::Keep };
        let args = mask
            .iter()
            .map(|&m| if m < lanes { known_a[usize::from(m)] } else { known_b[usize::from(m - lanes)] })
            .collect();
        Folded::Becomes(Op::Build, args, Flags::empty())
    }

    pub(super) fn build(&mut self, args: &[Value], ty: Type) -> Folded {
        // A constant of a vector type has the same bits in each lane, so only equal lanes become one.
        if let Some(bits) = self.bits(args[0])
            && args.iter().all(|&a| self.bits(a) == Some(bits))
        {
            return Folded::Const(bits);
        }
        if args.iter().all(|&a| a == args[0]) {
            return Folded::Becomes(Op::Splat, smallvec![args[0]], Flags::empty());
        }
        // A vector rebuilt from all of its own lanes.
        let source = |fold: &Self, k: usize| match fold.def(args[k]) {
            Some((Op::Extract, x)) if fold.func.ty(x[0]) == ty => {
                (fold.lane_number(x[1], ty.lanes) == Some(k as u16)).then_some(x[0])
            }
            _ => None,
        };
        match source(self, 0) {
            Some(v) if (1..args.len()).all(|k| source(self, k) == Some(v)) => Folded::Is(v),
            _ => Folded::Keep,
        }
    }
}
