//! Initialisers: an expression, or a list in braces with designators and elided braces (C99 6.7.8).
//!
//! In comes the syntax of an initialiser and the type of the object; out goes an [`Init`]: a list of (offset, value)
//! writes in order, over zeros if the initialiser was a list. An array of unknown length gets its length here. For
//! example `int a[3] = {1, [2] = 5}` gives zeros, then 1 at offset 0 and 5 at offset 8. A range `[0 ... 9] = x` writes
//! the first element and then repeats its bytes, so that a range of any length is two entries.

use super::tree::{Expr, ExprKind, Init, InitPart, Repeat};
use super::types::{QTy, Ty, TyKind};
use super::{Sema, limits};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, Designator, InitEntry, Initializer};
use smallvec::SmallVec;

/// The entries of a list, as they are used up.
struct Cursor<'a> {
    entries: &'a [InitEntry],
    pos: usize,
    /// The entry at `pos`, if it has been analysed already.
    ready: Option<Expr>,
    span: Span,
}

/// A member or element: its type and offset.
type Slot = (QTy, u64);

impl Sema<'_> {
    /// The initial value of an object; completes the type of an array without length.
    pub(super) fn initializer(&mut self, qty: &mut QTy, init: &Initializer) -> Init {
        match init {
            Initializer::List(list) => self.init_list(qty, list),
            Initializer::Expr(e) => {
                let mut out = Init::default();
                if self.init_string(qty, 0, e, &mut out) {
                    return out;
                }
                let value = self.expr(e);
                if matches!(self.types.kind(qty.ty), TyKind::Array(..)) {
                    // C has no array values, so that one expression cannot initialise an array; strings were taken
                    // above.
                    if !self.is_left_out(&value) {
                        let message = format!(
                            "an array (`{}`) needs a list in braces as its initial value",
                            self.type_name(qty.ty)
                        );
                        self.push(Diagnostic::error("E0315", e.span, message).help("write `{ … }`"));
                    }
                    return Self::no_init();
                }
                let to = self.types.stored(qty.ty);
                let value = self.assigned(value, to, "initialise", e.span);
                self.part(0, value, &mut out);
                out
            }
        }
    }

    /// A string literal (in parentheses or braces at most) as the value of an array of characters.
    fn init_string(&mut self, qty: &mut QTy, offset: u64, e: &ast::Expr, out: &mut Init) -> bool {
        let ast::ExprKind::Str(s) = &e.unparenthesised().kind else { return false };
        if !self.is_char_array(qty.ty) {
            return false;
        }
        let TyKind::Array(of, n) = *self.types.kind(qty.ty) else { return false };
        let with_end = s.bytes.len() as u64 + 1;
        let n = match n {
            // Without a length the array gets room for the terminating zero; with one, C lets the zero be dropped.
            Some(n) => n,
            None => {
                *qty = qty.with_ty(self.types.intern(TyKind::Array(of, Some(with_end))));
                with_end
            }
        };
        if s.bytes.len() as u64 > n {
            let message = format!("string of {} characters does not fit into an array of {n}", s.bytes.len());
            self.push(Diagnostic::warning("W0308", e.span, message).note("the characters beyond the end are dropped"));
        }
        let id = self.string_global(&s.bytes);
        // Only as much as there is room for; the rest of the array is zero.
        let size = with_end.min(n);
        let ty = self.types.intern(TyKind::Array(of, Some(size)));
        let ty = QTy { ty, ..self.unit.globals[id.0 as usize].ty };
        out.zero |= size < n;
        self.begin_again(offset, n, out);
        self.part(offset, Expr { kind: ExprKind::Global(id), ty, lvalue: true, span: e.span }, out);
        true
    }

    /// A list in braces.
    pub(super) fn init_list(&mut self, qty: &mut QTy, list: &ast::InitList) -> Init {
        let mut out = Init { zero: true, ..Init::default() };
        if let [InitEntry { designators, value: Initializer::Expr(e) }] = &list.entries[..]
            && designators.is_empty()
            && self.init_string(qty, 0, e, &mut out)
        {
            return out;
        }
        let length = self.braced(qty.ty, 0, list, &mut out);
        if let TyKind::Array(of, None) = *self.types.kind(qty.ty) {
            *qty = qty.with_ty(self.types.intern(TyKind::Array(of, Some(length))));
        }
        out
    }

    /// A braced list for the object at an offset; how many elements it came to have.
    fn braced(&mut self, ty: Ty, offset: u64, list: &ast::InitList, out: &mut Init) -> u64 {
        let mut cur = Cursor { entries: &list.entries, pos: 0, ready: None, span: list.span };
        match self.types.kind(ty) {
            TyKind::Array(..) | TyKind::Record(_) => return self.aggregate(ty, offset, &mut cur, out, true),
            TyKind::Error => return 0,
            // A scalar in braces has nothing that a designator could name.
            _ if list.entries.iter().any(|e| !e.designators.is_empty()) => {
                let message = format!("`{}` has no members or elements that could be named", self.type_name(ty));
                self.error("E0315", list.span, message);
                return 0;
            }
            TyKind::Vector(..) if !list.entries.is_empty() => {
                self.vector_parts(ty, offset, &mut cur, out);
            }
            _ => match cur.entries.first() {
                None => {}
                // `int x = {{1}};`: braces around a scalar may be doubled.
                Some(InitEntry { value: Initializer::List(inner), .. }) => {
                    cur.pos = 1;
                    self.braced(ty, offset, inner, out);
                }
                Some(_) => self.member(QTy::plain(ty), offset, &mut cur, out),
            },
        }
        self.excess(ty, &mut cur);
        0
    }

    /// Values that are left when the object is full: they are checked and dropped, as C compilers do; too many
    /// components of a vector are an error.
    fn excess(&mut self, ty: Ty, cur: &mut Cursor<'_>) {
        let Some(entry) = cur.entries.get(cur.pos) else { return };
        let (message, span) = ("more values than there are members", entry_span(entry));
        if self.types.is_vector(ty) {
            return self.error("E0315", span, message);
        }
        self.push(Diagnostic::warning("W0308", span, message).note("the values beyond the end are dropped"));
        if cur.ready.take().is_some() {
            cur.pos += 1;
        }
        let mut work: Vec<&InitEntry> = cur.entries[cur.pos..].iter().collect();
        while let Some(entry) = work.pop() {
            match &entry.value {
                Initializer::Expr(e) => {
                    let value = self.expr(e);
                    self.is_left_out(&value);
                }
                Initializer::List(list) => work.extend(&list.entries),
            }
        }
    }

    /// Members of an array or record from the list; without braces only as many as it needs. Gives the greatest index
    /// used plus one.
    fn aggregate(&mut self, ty: Ty, offset: u64, cur: &mut Cursor<'_>, out: &mut Init, braced: bool) -> u64 {
        let mut index = 0u64;
        let mut length = 0u64;
        let is_union = self.types.record(ty).is_some_and(|r| r.is_union);
        while let Some(entry) = cur.entries.get(cur.pos) {
            if self.session.diags.is_full() {
                break;
            }
            // If a value is ready, its designators have led here and must not be followed again: in `{ [1] = 5 }` for
            // an array of structures, the 5 is the first member of element 1.
            if let Some((first, rest)) = entry.designators.split_first().filter(|_| cur.ready.is_none()) {
                // A designator belongs to the object that has the braces, so it ends an object without braces.
                if !braced {
                    return length;
                }
                let Some((last, _)) = self.designation(ty, offset, first, rest, cur, out) else {
                    continue;
                };
                index = last;
            } else {
                // Without a designator only the first member of a union takes a value.
                let Some(slot) = self.slot(ty, offset, index).filter(|_| !is_union || index == 0) else {
                    if braced {
                        self.excess(ty, cur);
                    }
                    return length;
                };
                let before = cur.pos;
                self.member(slot.0, slot.1, cur, out);
                // Each iteration goes on to the next member or the next entry; otherwise the loop would not end.
                if cur.pos == before && cur.ready.is_none() {
                    // A member without members takes nothing.
                    if self.types.size(slot.0.ty) == 0 && matches!(self.types.kind(ty), TyKind::Record(_)) {
                        index += 1;
                        continue;
                    }
                    cur.pos += 1;
                }
            }
            index += 1;
            length = length.max(index);
            // A range makes two parts of one entry.
            if out.parts.len() > self.init_parts {
                self.error("E0325", cur.span, format!("more than {} initial values", limits::INIT_PARTS));
                cur.pos = cur.entries.len();
            }
        }
        length
    }

    /// Where element or member number `index` is.
    fn slot(&mut self, ty: Ty, offset: u64, index: u64) -> Option<Slot> {
        match *self.types.kind(ty) {
            TyKind::Array(of, n) => {
                if n.is_some_and(|n| index >= n) {
                    return None;
                }
                let at = self.types.size(of.ty).checked_mul(index)?;
                // An array without a length has any number of elements, up to the limit of an object.
                (at <= limits::OBJECT).then_some((of, offset + at))
            }
            TyKind::Record(_) => {
                let f = self.types.record(ty)?.fields.as_ref()?.get(usize::try_from(index).ok()?)?;
                Some((f.ty, offset + f.offset))
            }
            _ => None,
        }
    }

    /// The member or element that a designator names, the first one of a range: its number, where it is, and how many
    /// more follow.
    fn designated(&mut self, ty: Ty, offset: u64, d: &Designator) -> Option<(u64, Slot, u64)> {
        match d {
            Designator::Field(name) => {
                let Some(fields) = self.types.record(ty).and_then(|r| r.fields.clone()) else {
                    let message = format!("`{}` has no members", self.type_name(ty));
                    self.error("E0315", name.span, message);
                    return None;
                };
                // The member's number, so that the entries that follow without a designator go on from it.
                if let Some(i) = fields.iter().position(|f| f.name == Some(name.name)) {
                    return Some((i as u64, (fields[i].ty, offset + fields[i].offset), 0));
                }
                // In an anonymous member.
                for (i, f) in fields.iter().enumerate().filter(|(_, f)| f.name.is_none()) {
                    if let Some((inner, at)) = self.types.field(f.ty.ty, name.name) {
                        return Some((i as u64, (inner, offset + f.offset + at), 0));
                    }
                }
                self.no_member(ty, *name);
                None
            }
            Designator::Index(e) => self.designated_element(ty, offset, e).map(|(n, slot)| (n, slot, 0)),
            Designator::Range(first, last) => {
                let (from, slot) = self.designated_element(ty, offset, first)?;
                let (to, _) = self.designated_element(ty, offset, last)?;
                if to < from {
                    self.error("E0315", last.span, format!("the range from {from} to {to} is empty"));
                    return None;
                }
                Some((from, slot, to - from))
            }
        }
    }

    fn designated_element(&mut self, ty: Ty, offset: u64, e: &ast::Expr) -> Option<(u64, Slot)> {
        let value = self.rvalue_of(e);
        if self.is_left_out(&value) {
            return None;
        }
        let Some(n) = self.eval_int(&value) else {
            self.not_constant(e.span, "an index in an initial value");
            return None;
        };
        let slot = u64::try_from(n).ok().and_then(|n| self.slot(ty, offset, n));
        match slot {
            Some(slot) if matches!(self.types.kind(ty), TyKind::Array(..)) => Some((n as u64, slot)),
            _ => {
                let message = format!("index {n} is outside of `{}`", self.type_name(ty));
                self.error("E0315", e.span, message);
                None
            }
        }
    }

    /// A designator, those after it, and the value. Gives the number of the last element that the first designator
    /// names, and the bytes that were written: offset and size.
    fn designation(
        &mut self,
        ty: Ty,
        offset: u64,
        first: &Designator,
        rest: &[Designator],
        cur: &mut Cursor<'_>,
        out: &mut Init,
    ) -> Option<(u64, (u64, u64))> {
        let Some((number, (ty, offset), more)) = self.designated(ty, offset, first) else {
            cur.pos += 1;
            return None;
        };
        // The innermost designator writes one value. On the way back each range repeats the bytes that it finds
        // written, so that `[0 ... 9][0 ... 9] = x` is three parts.
        let (begin, size) = match rest.split_first() {
            Some((next, rest)) => self.designation(ty.ty, offset, next, rest, cur, out)?.1,
            None => {
                let before = cur.pos;
                self.member(ty, offset, cur, out);
                if cur.pos == before {
                    cur.pos += 1;
                }
                (offset, self.types.size(ty.ty))
            }
        };
        let Designator::Range(_, last) = first else { return Some((number, (begin, size))) };
        let stride = self.types.size(ty.ty);
        let inner = rest.iter().position(|d| matches!(d, Designator::Range(..)));
        if inner.is_some_and(|i| rest[i + 1..].iter().any(|d| matches!(d, Designator::Field(_)))) {
            // The bytes of the inner range are not adjacent.
            self.push(
                Diagnostic::error("E0315", last.span, "a range in a range, followed by a member, is not supported")
                    .help("write the elements of one of them out"),
            );
            return None;
        }
        // `[3 ... 3]` repeats nothing, and elements without bytes need no copy.
        if more > 0 && size > 0 {
            // The value is computed once, as GNU C has it, and costs two entries whatever the length of the range.
            let repeat = Repeat { offset: begin, size, stride, count: more, span: last.span };
            out.end = out.end.max(begin + more * stride + size);
            out.parts.push(InitPart::Repeat(repeat));
            out.repeats = true;
        }
        Some((number + more, (begin, more * stride + size)))
    }

    /// One member: a braced list, an expression, or (braces elided) what follows in the list.
    fn member(&mut self, ty: QTy, offset: u64, cur: &mut Cursor<'_>, out: &mut Init) {
        let Some(entry) = cur.entries.get(cur.pos) else { return };
        match &entry.value {
            Initializer::List(list) => {
                cur.pos += 1;
                self.braced_member(ty, offset, list, out);
            }
            Initializer::Expr(e) => {
                let mut same = ty;
                if cur.ready.is_none() && self.init_string(&mut same, offset, e, out) {
                    cur.pos += 1;
                    return;
                }
                let value = match cur.ready.take() {
                    Some(v) => v,
                    None => self.expr(e),
                };
                // A structure of the right type is the whole value. Anything else is the first value inside: the braces
                // are elided.
                if self.types.is_aggregate(ty.ty) && value.ty.ty != ty.ty && !value.is_error() {
                    cur.ready = Some(value);
                    self.aggregate_elided(ty.ty, offset, cur, out);
                    return;
                }
                // A scalar is the value of all components of a vector, as in Clang: `int2 a[2] = {5, 6}` has two
                // vectors.
                cur.pos += 1;
                let to = self.types.stored(ty.ty);
                let value = self.assigned(value, to, "initialise", e.span);
                self.part(offset, value, out);
            }
        }
    }

    fn aggregate_elided(&mut self, ty: Ty, offset: u64, cur: &mut Cursor<'_>, out: &mut Init) {
        let before = cur.pos;
        self.aggregate(ty, offset, cur, out, false);
        if cur.pos == before {
            // Nothing took the value: there is no scalar in the aggregate.
            cur.ready = None;
            cur.pos += 1;
        }
    }

    fn braced_member(&mut self, ty: QTy, offset: u64, list: &ast::InitList, out: &mut Init) {
        if let [InitEntry { designators, value: Initializer::Expr(e) }] = &list.entries[..]
            && designators.is_empty()
        {
            let mut same = ty;
            if self.init_string(&mut same, offset, e, out) {
                return;
            }
        }
        self.begin_again(offset, self.types.size(ty.ty), out);
        self.braced(ty.ty, offset, list, out);
    }

    /// Components of a vector from the list: scalars and shorter vectors until it is full.
    fn vector_parts(&mut self, ty: Ty, offset: u64, cur: &mut Cursor<'_>, out: &mut Init) {
        let Some((elem, lanes)) = self.types.numeric(ty) else { return };
        let mut parts: Vec<Expr> = Vec::new();
        let mut have = 0u8;
        let span = cur.span;
        while have < lanes {
            let Some(InitEntry { designators, value: Initializer::Expr(e) }) = cur.entries.get(cur.pos) else { break };
            // A later designator is one of the object around the vector.
            if have > 0 && !designators.is_empty() {
                break;
            }
            let value = match cur.ready.take() {
                Some(v) => v,
                None => self.expr(e),
            };
            cur.pos += 1;
            let n = match self.types.numeric(value.ty.ty) {
                Some((_, n)) => n,
                None => 1,
            };
            if n == lanes && have == 0 {
                let value = self.assigned(value, ty, "initialise", e.span);
                return self.part(offset, value, out);
            }
            if have + n > lanes {
                self.error("E0313", e.span, "too many components for the vector");
                return;
            }
            let part_ty = self.types.value(elem, n);
            parts.push(self.assigned(value, part_ty, "initialise", e.span));
            have += n;
        }
        while have < lanes {
            let scalar = self.types.value(elem, 1);
            parts.push(Expr::value(ExprKind::Const(SmallVec::from_elem(0, 1)), scalar, span));
            have += 1;
        }
        if parts.iter().any(Expr::is_error) {
            return self.leave_out(span);
        }
        self.part(offset, Expr::value(ExprKind::Vector(parts), ty, span), out);
    }

    fn part(&self, offset: u64, value: Expr, out: &mut Init) {
        out.parts.push(InitPart::Value(offset, value));
        out.end = out.end.max(offset + 1);
    }

    /// A braced list or a string is the whole value of an object, also of one that has had parts (a designator used
    /// twice): these are gone, and what the list does not name is zero. (C99 6.7.8, 19 and 21.)
    fn begin_again(&mut self, offset: u64, size: u64, out: &mut Init) {
        if offset >= out.end {
            return;
        }
        let work = out.parts.len() as u64 / 16;
        if out.repeats || self.fuel <= work {
            // The value that a range repeats must stay for its other elements.
            out.parts.push(InitPart::Zero(offset, size));
            return;
        }
        self.fuel -= work;
        out.parts.retain(|part| !matches!(part, InitPart::Value(at, _) if (offset..offset + size).contains(at)));
    }
}

fn entry_span(entry: &InitEntry) -> Span {
    match &entry.value {
        Initializer::Expr(e) => e.span,
        Initializer::List(l) => l.span,
    }
}
