//! Components of vectors by name: `.x`, `.wzyx`, `.s0f`, `.lo`, `.odd`. A swizzle of a swizzle becomes one.

use super::Sema;
use super::tree::{Expr, ExprKind};
use super::types::QTy;
use crate::source::Diagnostic;
use crate::syntax::ast::Ident;
use smallvec::SmallVec;

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
        // The component that `.hi` and `.odd` of three components take for the missing fourth.
        for p in &mut picked {
            *p = (*p).min(lanes - 1);
        }
        let ty = self.types.value(elem, picked.len() as u8);
        // A swizzle of a swizzle is one swizzle.
        if let ExprKind::Swizzle(inner, first) = base.kind {
            let picked = picked.iter().map(|&i| first[usize::from(i)]).collect();
            return Expr {
                kind: ExprKind::Swizzle(inner, picked),
                ty: QTy { ty, ..base.ty },
                lvalue: base.lvalue,
                span,
            };
        }
        let (lvalue, qty) = (base.lvalue, QTy { is_restrict: false, ty, ..base.ty });
        Expr { kind: ExprKind::Swizzle(Box::new(base), picked), ty: qty, lvalue, span }
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
