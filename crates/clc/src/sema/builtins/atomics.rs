//! C11 atomics: functions on objects of atomic types, with a memory order and a memory scope.
//!
//! OpenCL C 3.0 requires those with explicit order and scope, relaxed and in the work-group; the others belong to
//! optional features, which the device has. All become atomic operations of the IR. An order that is not a constant
//! expression is taken as sequentially consistent, which is correct for each.

use crate::sema::Sema;
use crate::sema::constant::CVal;
use crate::sema::tree::{Expr, ExprKind, Special};
use crate::sema::types::{QTy, Ty, TyKind, elem_signed};
use crate::source::Span;
use crate::syntax::ast::UnaryOp;
use cloom_builtins::Elem;
use cloom_caps::feature;
use cloom_ir::{Order, RmwOp, Scope, Space};

/// What a function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sema) enum Op {
    Init,
    Load,
    Store,
    Exchange,
    CompareExchange,
    /// `add`, `sub`, …
    Fetch(&'static str),
    TestAndSet,
    Clear,
    Fence,
}

/// A function of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sema) struct Function {
    pub op: Op,
    /// It ends in `_explicit`: an order may follow, and a scope.
    pub explicit: bool,
}

/// The orders: names without `memory_order_`, and values, which are those of Clang's `__ATOMIC_…`.
pub(in crate::sema) const ORDERS: [(&str, u64, Order); 5] = [
    ("relaxed", 0, Order::Relaxed),
    ("acquire", 2, Order::Acquire),
    ("release", 3, Order::Release),
    ("acq_rel", 4, Order::AcqRel),
    ("seq_cst", 5, Order::SeqCst),
];
/// `__ATOMIC_CONSUME`, which nobody makes use of: it is taken as `acquire`.
const CONSUME: u64 = 1;

/// The values of `memory_scope_…`, which are those of Clang's `__OPENCL_MEMORY_SCOPE_…`.
pub(in crate::sema) mod scope {
    pub const WORK_ITEM: u64 = 0;
    pub const WORK_GROUP: u64 = 1;
    pub const DEVICE: u64 = 2;
    pub const ALL_DEVICES: u64 = 3;
    pub const SUB_GROUP: u64 = 4;
}

const FETCHES: [&str; 7] = ["add", "sub", "or", "xor", "and", "min", "max"];

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<Function> {
    if name == "atomic_work_item_fence" {
        return Some(Function { op: Op::Fence, explicit: true });
    }
    // Clang's own spelling: order and scope are always there.
    let (name, is_clangs) = match name.strip_prefix("__opencl_") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let rest = name.strip_prefix("atomic_")?;
    let (rest, explicit) = match rest.strip_suffix("_explicit") {
        Some(_) if is_clangs => return None,
        Some(rest) => (rest, true),
        None => (rest, is_clangs && rest != "init"),
    };
    let op = match rest {
        "init" if !explicit => Op::Init,
        "load" => Op::Load,
        "store" => Op::Store,
        "exchange" => Op::Exchange,
        "compare_exchange_strong" | "compare_exchange_weak" => Op::CompareExchange,
        "flag_test_and_set" => Op::TestAndSet,
        "flag_clear" => Op::Clear,
        _ => Op::Fetch(FETCHES.iter().find(|f| rest.strip_prefix("fetch_") == Some(f))?),
    };
    Some(Function { op, explicit })
}

impl Function {
    /// Arguments before the orders, and how many orders an explicit one has.
    fn counts(self) -> (usize, usize) {
        match self.op {
            Op::Load | Op::TestAndSet | Op::Clear => (1, 1),
            Op::Init => (2, 0),
            Op::Store | Op::Exchange | Op::Fetch(_) => (2, 1),
            Op::CompareExchange => (3, 2),
            Op::Fence => (1, 1),
        }
    }

    /// How many arguments it may have.
    pub fn arity(self) -> std::ops::RangeInclusive<usize> {
        let (fixed, orders) = self.counts();
        match (self.explicit, self.op) {
            (true, Op::Fence) => 3..=3,
            (true, _) => fixed + orders..=fixed + orders + 1,
            (false, _) => fixed..=fixed,
        }
    }
}

impl Sema<'_> {
    /// A call, with as many arguments as it may have.
    pub(in crate::sema) fn c11_atomic(
        &mut self,
        f: Function,
        name: &str,
        mut args: Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let (fixed, _) = f.counts();
        // What is left are the operands; the tail has the orders and perhaps the scope.
        let tail = args.split_off(fixed.min(args.len()));
        // Of the two orders of a compare-exchange the first counts, which is that of success: C11 does not allow a
        // stronger one for failure.
        let order = if f.explicit { self.order(tail.first()) } else { Order::SeqCst };
        if f.op == Op::Fence {
            let flags = args.pop()?;
            if !self.types.is_integer(flags.ty.ty) {
                return self.bad_argument(&flags, "an integer");
            }
            let flags = self.convert(flags, Ty::UINT);
            let scope = match tail.get(1).and_then(|e| self.known(e)) {
                Some(scope::WORK_ITEM | scope::WORK_GROUP | scope::SUB_GROUP) => Scope::Group,
                _ => Scope::Device,
            };
            return Some(Expr::value(ExprKind::Special(Special::Fence(order, scope), vec![flags]), Ty::VOID, span));
        }
        // Behind the orders. A scope that is no constant is taken to be wide enough.
        let (_, orders) = f.counts();
        let scope = tail.get(orders).filter(|_| f.explicit).and_then(|e| self.known(e)).map(|scope| match scope {
            scope::WORK_ITEM | scope::SUB_GROUP => Scope::SubGroup,
            scope::WORK_GROUP => Scope::Group,
            _ => Scope::Device,
        });
        let mut args = args.into_iter();
        let p = args.next()?;
        // A load may read `const` memory.
        let to = self.pointer_arg(&p, f.op != Op::Load)?;
        let TyKind::Atomic(elem) = *self.types.kind(to.ty) else {
            return self.bad_argument(&p, "a pointer to an atomic type");
        };
        if !matches!(to.space, Space::Global | Space::Local | Space::Private | Space::Generic) {
            return self.bad_argument(&p, "a pointer to global or local memory");
        }
        let ty = self.types.value(elem, 1);
        let mut all = vec![p];
        for (i, a) in args.enumerate() {
            let at = a.span;
            let a = if f.op == Op::CompareExchange && i == 0 {
                let expected = self.pointer_arg(&a, true)?;
                if expected.ty != ty {
                    let wanted = format!("a pointer to `{}`", self.type_name(ty));
                    return self.bad_argument(&a, &wanted);
                }
                a
            } else {
                self.assigned(a, ty, "pass", at)
            };
            if a.is_error() {
                return None;
            }
            all.push(a);
        }
        let (special, result) = match f.op {
            Op::Init => (Special::AtomicInit, Ty::VOID),
            Op::Load => (Special::AtomicLoad(order, scope), ty),
            Op::Store => (Special::AtomicStore(order, scope), Ty::VOID),
            Op::Exchange => (Special::Atomic(RmwOp::Xchg, order, scope), ty),
            Op::CompareExchange => (Special::CompareExchange(order, scope), Ty::BOOL),
            Op::Fetch(what) => {
                self.check_float_fetch(what, name, elem, &to, span)?;
                // x - y is x + -y.
                if elem.is_float() && what == "sub" {
                    let operand = all.pop()?;
                    let at = operand.span;
                    all.push(self.unary(UnaryOp::Minus, operand, at));
                }
                (Special::Atomic(fetch(what, elem), order, scope), ty)
            }
            Op::TestAndSet => {
                all.push(self.constant(1, ty, span));
                let old = Expr::value(ExprKind::Special(Special::Atomic(RmwOp::Xchg, order, scope), all), ty, span);
                return Some(self.convert(old, Ty::BOOL));
            }
            Op::Clear => {
                all.push(self.constant(0, ty, span));
                (Special::AtomicStore(order, scope), Ty::VOID)
            }
            Op::Fence => return None,
        };
        Some(Expr::value(ExprKind::Special(special, all), result, span))
    }

    /// Whether there is a function for an element, which floats have by the features of `cl_ext_float_atomics`.
    fn check_float_fetch(&mut self, what: &str, name: &str, elem: Elem, to: &QTy, span: Span) -> Option<()> {
        let kind = match what {
            _ if !elem.is_float() => return Some(()),
            "add" | "sub" => "add",
            "min" | "max" => "min_max",
            _ => {
                let message = format!("`{name}` works on atomic integers, not on `{}`", self.type_name(to.ty));
                self.error("E0308", span, message);
                return None;
            }
        };
        let has = |space| self.has_feature(&feature::float_atomic(elem.bits(), space, kind));
        let is_there = match to.space {
            Space::Global => has("global"),
            // A generic pointer may lead to either, so that both features are needed.
            Space::Generic => has("global") && has("local"),
            _ => has("local"),
        };
        if !is_there {
            let what = format!("`{name}` on `{}` is", self.type_name(to.ty));
            self.unavailable(span, &what, "use `atomic_compare_exchange_weak` in a loop");
        }
        is_there.then_some(())
    }

    /// The value of a constant expression.
    fn known(&mut self, e: &Expr) -> Option<u64> {
        match self.eval(e).ok()? {
            CVal::Lanes(lanes) => lanes.first().copied(),
            CVal::Addr(..) => None,
        }
    }

    fn order(&mut self, e: Option<&Expr>) -> Order {
        match e.and_then(|e| self.known(e)) {
            Some(CONSUME) => Order::Acquire,
            known => ORDERS.iter().find(|o| known == Some(o.1)).map_or(Order::SeqCst, |o| o.2),
        }
    }
}

fn fetch(what: &str, elem: Elem) -> RmwOp {
    match (what, elem_signed(elem)) {
        ("add" | "sub", _) if elem.is_float() => RmwOp::Fadd,
        ("min", _) if elem.is_float() => RmwOp::Fmin,
        ("max", _) if elem.is_float() => RmwOp::Fmax,
        ("add", _) => RmwOp::Add,
        ("sub", _) => RmwOp::Sub,
        ("or", _) => RmwOp::Or,
        ("xor", _) => RmwOp::Xor,
        ("and", _) => RmwOp::And,
        ("min", true) => RmwOp::Smin,
        ("min", false) => RmwOp::Umin,
        (_, true) => RmwOp::Smax,
        (_, false) => RmwOp::Umax,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let f = |name| function(name).map(|f| (f.op, f.explicit));
        assert_eq!(f("atomic_fetch_add"), Some((Op::Fetch("add"), false)));
        assert_eq!(f("atomic_fetch_max_explicit"), Some((Op::Fetch("max"), true)));
        assert_eq!(f("atomic_compare_exchange_weak_explicit"), Some((Op::CompareExchange, true)));
        assert_eq!(f("atomic_flag_clear"), Some((Op::Clear, false)));
        assert_eq!(f("__opencl_atomic_fetch_add"), Some((Op::Fetch("add"), true)));
        assert_eq!(f("__opencl_atomic_init"), Some((Op::Init, false)));
        for other in ["atomic_add", "atomic_fetch_mul", "atomic_init_explicit", "atomic_", "atom_add"] {
            assert_eq!(f(other), None, "{other}");
        }
    }
}
