//! Overload resolution: which function of a name a call means.
//!
//! Each argument is ranked against the parameter: same type, promotion, conversion, scalar widened to a vector. The
//! best candidate is the one that is worse for no argument, and better for at least one, than every other; if there is
//! none, the call is ambiguous.

use super::Sema;
use super::tree::Expr;
use super::types::{Ty, TyKind, becomes, elem_name};
use cloom_builtins::{Elem, Sig};
use cloom_ir::Space;

/// How well an argument fits; smaller is better. `None` of a parameter: not at all.
pub(super) type Rank = u8;

/// The outcome.
pub(super) enum Choice {
    One(usize),
    None,
    Several(Vec<usize>),
}

/// The candidate that is at least as good as each other for every argument, and better for one.
pub(super) fn best(ranks: &[Option<Vec<Rank>>]) -> Choice {
    let viable: Vec<usize> = (0..ranks.len()).filter(|&i| ranks[i].is_some()).collect();
    let better = |a: usize, b: usize| match (&ranks[a], &ranks[b]) {
        (Some(x), Some(y)) => x.iter().zip(y).all(|(p, q)| p <= q) && x.iter().zip(y).any(|(p, q)| p < q),
        _ => false,
    };
    match viable.iter().find(|&&a| viable.iter().all(|&b| a == b || better(a, b))) {
        Some(&one) => Choice::One(one),
        None if viable.is_empty() => Choice::None,
        None => {
            // Of several, only those are named that no other one beats.
            let undominated =
                viable.iter().copied().filter(|&a| !viable.iter().any(|&b| better(b, a))).collect::<Vec<_>>();
            Choice::Several(if undominated.is_empty() { viable } else { undominated })
        }
    }
}

impl Sema<'_> {
    /// How well a value fits a parameter.
    pub(super) fn rank(&mut self, arg: &Expr, to: Ty) -> Option<Rank> {
        let from = arg.ty.ty;
        if from == to || from == Ty::ERROR {
            return Some(0);
        }
        match (self.types.kind(from).clone(), self.types.kind(to).clone()) {
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Bool) => Some(2),
            // Promotions are better than conversions: a `char` prefers `int` to `long`, a `half` prefers `float` to
            // `double`.
            (TyKind::Bool, TyKind::Scalar(Elem::I32)) => Some(1),
            (TyKind::Scalar(a), TyKind::Scalar(b)) => Some(match (a, b) {
                (Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16, Elem::I32) => 1,
                (Elem::F16, Elem::F32) | (Elem::F32, Elem::F64) => 1,
                _ => 2,
            }),
            (TyKind::Bool, TyKind::Scalar(_)) => Some(2),
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Vector(..)) => Some(3),
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                // A null pointer constant fits a pointer into any space.
                let null = self.is_zero(arg);
                if a.space != b.space && !becomes(a.space, b.space) {
                    return null.then_some(2);
                }
                // An overload for the pointer's own space is better than one for generic pointers.
                let to_generic = Rank::from(a.space != b.space);
                let qualifiers = (a.is_const && !b.is_const) || (a.is_volatile && !b.is_volatile);
                let rank = match (a.ty == b.ty, qualifiers) {
                    (true, false) => {
                        Some(if (a.is_const, a.is_volatile) == (b.is_const, b.is_volatile) { 0 } else { 1 })
                    }
                    // To drop `const` or `volatile` is no conversion, so that a `const` pointer chooses the `const`
                    // overload.
                    (_, true) => None,
                    (false, _) => (b.ty == Ty::VOID || null).then_some(2),
                };
                rank.map(|rank| rank + to_generic)
            }
            (TyKind::Scalar(_), TyKind::Pointer(_) | TyKind::Event | TyKind::ReserveId) => {
                self.is_zero(arg).then_some(2)
            }
            _ => None,
        }
    }

    /// How well a value fits a parameter of a built-in function.
    pub(super) fn rank_builtin(&mut self, arg: &Expr, to: cloom_builtins::Ty) -> Option<Rank> {
        match to {
            cloom_builtins::Ty::Void => None,
            cloom_builtins::Ty::Value(elem, lanes) => {
                let to = self.types.value(elem, lanes);
                self.rank(arg, to)
            }
            cloom_builtins::Ty::Ptr(space, elem, lanes) => {
                let a = self.types.pointee(arg.ty.ty)?;
                let to = self.types.value(elem, lanes);
                // Through a generic pointer the result is stored by the caller: see `lower`.
                let fits = a.space == space || a.space == Space::Generic && space == Space::Private;
                if !fits || a.is_const {
                    return None;
                }
                if a.ty == to {
                    return Some(0);
                }
                // `uint*` for `int*` is often passed.
                let (e, n) = self.types.numeric(a.ty)?;
                (n == lanes && !e.is_float() && !elem.is_float() && e.bits() == elem.bits()).then_some(2)
            }
        }
    }

    /// Whether the device has the types of a signature.
    pub(super) fn has_types(&self, sig: &Sig) -> bool {
        let ok = |ty: &cloom_builtins::Ty| match ty {
            cloom_builtins::Ty::Void => true,
            cloom_builtins::Ty::Value(e, _) | cloom_builtins::Ty::Ptr(_, e, _) => {
                (*e != Elem::F16 || self.opts.fp16) && (*e != Elem::F64 || self.opts.fp64)
            }
        };
        ok(&sig.ret) && sig.params.iter().all(ok)
    }

    /// A type of a built-in signature as a type of the program.
    pub(super) fn builtin_ty(&mut self, ty: cloom_builtins::Ty) -> Ty {
        match ty {
            cloom_builtins::Ty::Void => Ty::VOID,
            cloom_builtins::Ty::Value(elem, lanes) => self.types.value(elem, lanes),
            cloom_builtins::Ty::Ptr(space, elem, lanes) => {
                let to = self.types.value(elem, lanes);
                self.types.pointer(super::types::QTy { space, ..super::types::QTy::plain(to) })
            }
        }
    }
}

/// A signature as a person would write it.
pub(super) fn signature(name: &str, sig: &Sig) -> String {
    let ty = |t: &cloom_builtins::Ty| match t {
        cloom_builtins::Ty::Void => "void".to_owned(),
        cloom_builtins::Ty::Value(e, n) => value_name(*e, *n),
        cloom_builtins::Ty::Ptr(Space::Private, e, n) => format!("{}*", value_name(*e, *n)),
        cloom_builtins::Ty::Ptr(s, e, n) => format!("{} {}*", super::types::space_name(*s), value_name(*e, *n)),
    };
    let params: Vec<String> = sig.params.iter().map(ty).collect();
    format!("{} {name}({})", ty(&sig.ret), params.join(", "))
}

fn value_name(e: Elem, n: u8) -> String {
    if n == 1 { elem_name(e).to_owned() } else { format!("{}{n}", elem_name(e)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_must_be_nowhere_worse() {
        let pick = |r: &[Option<Vec<u8>>]| match best(r) {
            Choice::One(i) => i as i32,
            Choice::None => -1,
            Choice::Several(_) => -2,
        };
        assert_eq!(pick(&[Some(vec![0, 2]), Some(vec![1, 2])]), 0);
        assert_eq!(pick(&[Some(vec![0, 2]), Some(vec![2, 0])]), -2);
        assert_eq!(pick(&[None, Some(vec![3])]), 1);
        assert_eq!(pick(&[None]), -1);
    }
}
