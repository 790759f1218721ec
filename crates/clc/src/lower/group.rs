//! Functions that the work-items of a work-group or a sub-group call together.
//!
//! Sub-group functions become the operations of [`cloom_ir::subgroup`], one for each component of a vector. Work-group
//! functions become calls of the library (`work_group.cl`), which get the local memory through which the group
//! exchanges values: one variable for all calls of a program.

use super::func::Fn;
use crate::sema::types::elem_signed;
use cloom_builtins::{Elem, Subgroup, Ty, mangle};
use cloom_ir::{BinOp, CastOp, FloatCc, Global, GlobalLinkage, IntCc, Order, Query, Scope, Space, Type, UnOp, Value};

/// Name of the variable that groups exchange values through. Names of C hold no dot.
const SHARED: &str = "work_group.shared";

/// Its bytes: eight for the result, and for each sub-group, of which there are at most as many as work-items.
const SHARED_BYTES: u64 = 8 * (1 + cloom_caps::limits::MAX_GROUP_SIZE);

/// No sub-group has more work-items.
const MAX_SUBGROUP_ITEMS: u16 = 64;

impl Fn<'_, '_> {
    /// A function of the whole work-group: `name` with these parameters, from the library.
    pub fn work_group_function(&mut self, name: &str, params: &[Ty], v: &[Value], ty: Type) -> Value {
        let shared = self.lw.shared_memory();
        // The library's function has the shared memory as one more parameter, at the end.
        let mut types: Vec<Type> = v.iter().map(|&a| self.ty(a)).collect();
        types.push(Type::ptr(Space::Local));
        let mut params = params.to_vec();
        params.push(Ty::Ptr(Space::Local, Elem::U64, 1));
        let f = self.lw.library_func(mangle(&format!("__{name}"), &params), types, Some(ty));
        let mut args = v.to_vec();
        args.push(self.b().global_addr(shared, Space::Local));
        match self.b().call(f, &args, Some(ty)) {
            Some(r) => r,
            None => self.zero(ty),
        }
    }

    /// A function of the sub-group.
    pub fn subgroup(&mut self, s: Subgroup, name: &str, v: &[Value], elem: Elem, ty: Type) -> Value {
        match s {
            Subgroup::Query(what) => self.number(what),
            Subgroup::Barrier => {
                // A fence of this scope is the IR's barrier of a sub-group.
                self.b().fence(Order::AcqRel, Scope::SubGroup);
                self.zero(ty)
            }
            Subgroup::Ballot => {
                let yes = self.non_zero(v[0]);
                self.b().subgroup_ballot(yes)
            }
            Subgroup::Any => {
                let yes = self.non_zero(v[0]);
                self.some(yes, IntCc::Ne, ty)
            }
            Subgroup::All => {
                let yes = self.non_zero(v[0]);
                // Only work-items that are there vote: all say yes if none says no.
                let no = self.b().unary(UnOp::Not, yes);
                self.some(no, IntCc::Eq, ty)
            }
            Subgroup::AllEqual => {
                let first = self.first();
                let other = self.b().subgroup_shuffle(v[0], first);
                let differs = if elem.is_float() {
                    self.b().fcmp(FloatCc::Une, v[0], other)
                } else {
                    self.b().icmp(IntCc::Ne, v[0], other)
                };
                self.some(differs, IntCc::Eq, ty)
            }
            Subgroup::Elect => {
                let (first, own) = (self.first(), self.number(Query::SubgroupLocalId));
                let is = self.b().icmp(IntCc::Eq, own, first);
                self.truth(is, ty)
            }
            Subgroup::BroadcastFirst => {
                let first = self.first();
                self.b().subgroup_shuffle(v[0], first)
            }
            Subgroup::Shuffle => self.shuffle_from(v[0], |_, number| number, v[1]),
            Subgroup::ShuffleXor => self.shuffle_by(BinOp::Xor, v[0], v[1]),
            Subgroup::ShuffleUp => self.shuffle_by(BinOp::Sub, v[0], v[1]),
            Subgroup::ShuffleDown => self.shuffle_by(BinOp::Add, v[0], v[1]),
            Subgroup::ShuffleUpTwo | Subgroup::ShuffleDownTwo => self.shuffle_two(s, v, ty),
            Subgroup::Rotate => self.rotate(v),
            Subgroup::Reduce | Subgroup::ScanInclusive | Subgroup::ScanExclusive => self.combine(s, name, v, elem, ty),
        }
    }

    /// A position in the sub-group or a size, as a `uint`.
    fn number(&mut self, what: Query) -> Value {
        let number = self.b().query(what, 0);
        self.b().cast(CastOp::Trunc, number, Type::I32)
    }

    /// The number of the first work-item that is here.
    fn first(&mut self) -> Value {
        let yes = self.b().iconst(Type::I1, 1);
        // The lowest bit that is set in the ballot of those that are here.
        let here = self.b().subgroup_ballot(yes);
        let first = self.b().unary(UnOp::Ctz, here);
        self.b().cast(CastOp::Trunc, first, Type::I32)
    }

    /// Whether some are true, or, by the comparison, none.
    fn some(&mut self, yes: Value, cc: IntCc, ty: Type) -> Value {
        let all = self.b().subgroup_ballot(yes);
        let none = self.zero(Type::I64);
        let is = self.b().icmp(cc, all, none);
        self.truth(is, ty)
    }

    fn shuffle_by(&mut self, op: BinOp, value: Value, by: Value) -> Value {
        let from = |this: &mut Self, by: Value| {
            let own = this.number(Query::SubgroupLocalId);
            this.b().binary(op, own, by)
        };
        self.shuffle_from(value, from, by)
    }

    /// The value, each component of a vector, of the work-item that a number leads to.
    fn shuffle_from(&mut self, value: Value, from: impl FnOnce(&mut Self, Value) -> Value, number: Value) -> Value {
        // One number for all components: the work-item is the same.
        let number = self.one_number(number);
        let from = from(self, number);
        match self.ty(value).lanes {
            1 => self.b().subgroup_shuffle(value, from),
            lanes => {
                let parts: Vec<Value> = (0..lanes)
                    .map(|c| {
                        let part = self.b().extract_lane(value, c);
                        self.b().subgroup_shuffle(part, from)
                    })
                    .collect();
                self.b().build(&parts)
            }
        }
    }

    /// A number that goes with a vector was spread over its components.
    fn one_number(&mut self, number: Value) -> Value {
        if self.ty(number).is_vector() { self.b().extract_lane(number, 0) } else { number }
    }

    /// Of two values that follow each other in the numbers of work-items, the one at a distance from the own number:
    /// before it in the second value, or behind it in the first.
    fn shuffle_two(&mut self, s: Subgroup, v: &[Value], ty: Type) -> Value {
        let (up, by) = (s == Subgroup::ShuffleUpTwo, self.one_number(v[2]));
        // Both shuffles are made and one result is chosen. The other number wraps around or is too large, and its value
        // is not used.
        let (own, size) = (self.number(Query::SubgroupLocalId), self.number(Query::MaxSubgroupSize));
        let (first, second, is_first) = if up {
            let second = self.b().binary(BinOp::Sub, own, by);
            let first = self.b().binary(BinOp::Add, second, size);
            (first, second, self.b().icmp(IntCc::Ult, own, by))
        } else {
            let first = self.b().binary(BinOp::Add, own, by);
            let second = self.b().binary(BinOp::Sub, first, size);
            (first, second, self.b().icmp(IntCc::Ult, first, size))
        };
        let a = self.shuffle_from(v[0], |_, n| n, first);
        let b = self.shuffle_from(v[1], |_, n| n, second);
        let is_first = if ty.is_vector() { self.b().splat(is_first, ty.lanes) } else { is_first };
        self.b().select(is_first, a, b)
    }

    /// Value, distance and perhaps the size of a cluster, which is a power of two; a whole sub-group may be cut short
    /// by the group.
    fn rotate(&mut self, v: &[Value]) -> Value {
        let own = self.number(Query::SubgroupLocalId);
        let from = match v.get(2) {
            None => {
                let size = self.number(Query::MaxSubgroupSize);
                // From the remainder of a number that may be negative, to that of one that is not.
                let delta = self.b().binary(BinOp::Srem, v[1], size);
                let sum = self.b().binary(BinOp::Add, own, delta);
                let sum = self.b().binary(BinOp::Add, sum, size);
                self.b().binary(BinOp::Urem, sum, size)
            }
            Some(&cluster) => {
                let one = self.int(Type::I32, 1);
                let inside = self.b().binary(BinOp::Sub, cluster, one);
                let sum = self.b().binary(BinOp::Add, own, v[1]);
                // The size is a power of two: the low bits are the place in the cluster, the high ones tell which
                // cluster.
                let position = self.b().binary(BinOp::And, sum, inside);
                let outside = self.b().unary(UnOp::Not, inside);
                let first = self.b().binary(BinOp::And, own, outside);
                self.b().binary(BinOp::Or, first, position)
            }
        };
        self.b().subgroup_shuffle(v[0], from)
    }

    /// A reduction or a scan; the operation is the end of the name.
    fn combine(&mut self, s: Subgroup, name: &str, v: &[Value], elem: Elem, ty: Type) -> Value {
        let (word, logical) = match name.rsplit_once("_logical_") {
            Some((_, word)) => (word, true),
            None => (name.rsplit_once('_').map_or("", |n| n.1), false),
        };
        let pick = |float: BinOp, signed: BinOp, unsigned: BinOp| match elem {
            _ if elem.is_float() => float,
            _ if elem_signed(elem) => signed,
            _ => unsigned,
        };
        let op = match word {
            "mul" => pick(BinOp::Fmul, BinOp::Mul, BinOp::Mul),
            "min" => pick(BinOp::Fmin, BinOp::Smin, BinOp::Umin),
            "max" => pick(BinOp::Fmax, BinOp::Smax, BinOp::Umax),
            "and" => BinOp::And,
            "or" => BinOp::Or,
            "xor" => BinOp::Xor,
            _ => pick(BinOp::Fadd, BinOp::Add, BinOp::Add),
        };
        // Logical operations are the bitwise ones on 0 and 1.
        let mut value = v[0];
        if logical {
            let yes = self.non_zero(value);
            value = self.truth(yes, ty);
        }
        let result = match (s, v.get(1)) {
            (Subgroup::Reduce, Some(&cluster)) => self.clustered(op, value, cluster),
            (Subgroup::Reduce, None) => self.b().subgroup_reduce(op, value, MAX_SUBGROUP_ITEMS),
            _ => self.b().subgroup_scan(op, value, s == Subgroup::ScanExclusive),
        };
        if logical {
            // The identity of `and` has all bits set.
            let yes = self.non_zero(result);
            return self.truth(yes, ty);
        }
        result
    }

    /// The size of a cluster should be a constant; if it is none, the right one of all is picked.
    fn clustered(&mut self, op: BinOp, value: Value, cluster: Value) -> Value {
        if let Some(n) = self.func.const_bits(cluster) {
            // Any other size is undefined; a size that the operation takes is used.
            let n = if n.is_power_of_two() { n.min(u64::from(MAX_SUBGROUP_ITEMS)) as u16 } else { MAX_SUBGROUP_ITEMS };
            return self.b().subgroup_reduce(op, value, n);
        }
        let mut result = self.b().subgroup_reduce(op, value, MAX_SUBGROUP_ITEMS);
        for n in (0..MAX_SUBGROUP_ITEMS.ilog2()).map(|k| 1u16 << k) {
            let other = self.b().subgroup_reduce(op, value, n);
            let this = self.int(Type::I32, i64::from(n));
            let is = self.b().icmp(IntCc::Eq, cluster, this);
            result = self.b().select(is, other, result);
        }
        result
    }
}

impl super::Lowering<'_> {
    /// The variable that groups exchange values through, made when it is first asked for.
    pub fn shared_memory(&mut self) -> cloom_ir::GlobalRef {
        if let Some(g) = self.shared {
            return g;
        }
        let g = self.module.globals.push(Global {
            place: None,
            name: SHARED.into(),
            linkage: GlobalLinkage::Internal,
            space: Space::Local,
            size: SHARED_BYTES,
            align: 8,
            init: Vec::new(),
            relocs: Vec::new(),
        });
        self.shared = Some(g);
        g
    }
}
