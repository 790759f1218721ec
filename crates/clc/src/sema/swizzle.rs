//! Components of vectors by name (`.x`, `.wzyx`, `.s0f`, `.lo`, `.odd`) and by number (`v[i]`). A swizzle of a swizzle
//! becomes one, and a constant number is a swizzle, so that only numbers known at run time are left.

use super::Sema;
use super::tree::{Expr, ExprKind, NO_LANE};
use super::types::Ty;
use crate::source::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Ident;
use cloom_builtins::Elem;
use smallvec::{SmallVec, smallvec};

/// The components that a name picks out of a vector of `lanes`, or what is wrong.
fn picks(name: &str, lanes: u8) -> Result<SmallVec<[u8; 16]>, String> {
    // A vector of 3 is split like one of 4; the fourth component has no defined value.
    let wide = if lanes == 3 { 4 } else { lanes };
    match name {
        "lo" => return Ok((0..wide / 2).collect()),
        "hi" => return Ok((wide / 2..wide).collect()),
        "even" => return Ok((0..wide / 2).map(|i| 2 * i).collect()),
        "odd" => return Ok((0..wide / 2).map(|i| 2 * i + 1).collect()),
        _ => {}
    }
    // `.s` needs digits behind it; without any, the letters are looked up below and refused.
    let digits = name.strip_prefix(['s', 'S']).filter(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_hexdigit()));
    let index = |c: char| -> Option<u8> {
        match digits {
            Some(_) => c.to_digit(16).map(|d| d as u8),
            None => match c {
                'x' | 'r' => Some(0),
                'y' | 'g' => Some(1),
                'z' | 'b' => Some(2),
                'w' | 'a' => Some(3),
                _ => None,
            },
        }
    };
    let mut out = SmallVec::new();
    for c in digits.unwrap_or(name).chars() {
        match index(c) {
            Some(i) if i < lanes => out.push(i),
            Some(_) => return Err(format!("the vector has no component `{c}`: it has {lanes}")),
            None => return Err(format!("`{c}` is not a component")),
        }
    }
    if digits.is_none() && name.contains(['x', 'y', 'z', 'w']) && name.contains(['r', 'g', 'b', 'a']) {
        return Err("`xyzw` and `rgba` are mixed".into());
    }
    if !matches!(out.len(), 1..=4 | 8 | 16) {
        return Err(format!("{} components do not make a vector", out.len()));
    }
    Ok(out)
}

impl Sema<'_> {
    /// `base.name` of a vector.
    pub(super) fn swizzle(&mut self, base: Expr, name: Ident) -> Expr {
        let Some((elem, lanes)) = self.types.numeric(base.ty.ty) else { return Expr::error(name.span) };
        let span = base.span.to(name.span);
        let mut picked = match picks(self.text(name.name), lanes) {
            Ok(p) => p,
            Err(why) => {
                let message =
                    format!("`.{}` is not a part of a `{}`", self.text(name.name), self.type_name(base.ty.ty));
                self.push(
                    Diagnostic::error("E0312", name.span, message)
                        .label(why)
                        .help("components are `.x .y .z .w` (at most 4), `.s0` to `.sf`, or `.lo .hi .even .odd`"),
                );
                return Expr::error(span);
            }
        };
        // `.hi` and `.odd` of three components have no second one.
        for p in &mut picked {
            if *p >= lanes {
                *p = NO_LANE;
            }
        }
        self.picked(base, elem, picked, span)
    }

    /// Components of a vector, in this order.
    fn picked(&mut self, base: Expr, elem: Elem, picked: SmallVec<[u8; 16]>, span: Span) -> Expr {
        let ty = self.types.value(elem, picked.len() as u8);
        let (lvalue, ty) = (base.lvalue, base.ty.with_ty(ty));
        let kind = match base.kind {
            // `v.wzyx.xy` is `v.wz`: the components are looked up in the first choice, so that stores go to the right
            // ones.
            ExprKind::Swizzle(inner, first) => {
                let picked = picked.iter().map(|&i| first.get(usize::from(i)).copied().unwrap_or(NO_LANE));
                ExprKind::Swizzle(inner, picked.collect())
            }
            _ => ExprKind::Swizzle(Box::new(base), picked),
        };
        Expr { kind, ty, lvalue, span }
    }

    /// `base[index]` of a vector, as Clang has it.
    pub(super) fn vector_index(&mut self, base: Expr, index: Expr, span: Span) -> Expr {
        let Some((elem, lanes)) = self.types.numeric(base.ty.ty) else { return Expr::error(span) };
        if !self.is_index(&index) {
            return Expr::error(span);
        }
        if let Some(i) = self.eval_int(&index) {
            let lane = u8::try_from(i).ok().filter(|&i| i < lanes);
            if lane.is_none() {
                let message = format!("component {i} of a `{}`", self.type_name(base.ty.ty));
                let label = format!("the vector has {lanes} components");
                self.push(Diagnostic::warning("W0320", index.span, message).label(label));
            }
            return self.picked(base, elem, smallvec![lane.unwrap_or(NO_LANE)], span);
        }
        let mut index = self.convert(index, Ty::LONG);
        let mut base = base;
        if let ExprKind::Swizzle(inner, picks) = base.kind {
            if picks.contains(&NO_LANE) {
                let message = "a part with a component that does not exist needs a constant index";
                let note = "`.hi` and `.odd` of a vector of three have one component in memory";
                self.push(Diagnostic::error("E0312", span, message).note(note));
                return Expr::error(span);
            }
            // The component of the vector behind the swizzle is looked up.
            let ty = self.types.value(Elem::I64, picks.len() as u8);
            let bits = picks.iter().map(|&p| u64::from(p)).collect();
            let table = Expr::value(ExprKind::Const(bits), ty, span);
            index = Expr::value(ExprKind::Lane(Box::new(table), Box::new(index)), Ty::LONG, span);
            base = *inner;
        }
        let ty = self.types.value(elem, 1);
        let (lvalue, ty) = (base.lvalue, base.ty.with_ty(ty));
        Expr { kind: ExprKind::Lane(Box::new(base), Box::new(index)), ty, lvalue, span }
    }
}

#[cfg(test)]
mod tests {
    use super::picks;

    #[test]
    fn names_pick_components() {
        assert_eq!(picks("wzyx", 4).unwrap().as_slice(), [3, 2, 1, 0]);
        assert_eq!(picks("sAf", 16).unwrap().as_slice(), [10, 15]);
        assert_eq!(picks("hi", 3).unwrap().as_slice(), [2, 3]);
        assert_eq!(picks("odd", 8).unwrap().as_slice(), [1, 3, 5, 7]);
        assert!(
            picks("z", 2).is_err() && picks("xr", 4).is_err() && picks("s", 4).is_err() && picks("xyzwx", 4).is_err()
        );
    }
}
