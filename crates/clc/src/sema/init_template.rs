//! Templates of initialisers: the constants of a long list become data, which the object is copied from.
//!
//! In comes the [`Init`] of a variable of a function; out goes the same with its constant values moved to a global in
//! constant memory. The function then has one copy in place of hundreds of stores, as Clang emits it: each stage
//! after this one works on what is in the function, and is faster for it.
//!
//! ```text
//! int b[100] = { 1, 2, 3, n, 5, … };        constant .template = { 1, 2, 3, 0, 5, … };
//!                                           b = .template;  b[3] = n;
//! ```
//!
//! Short lists stay stores: mem2reg makes values of them, and what it leaves becomes data in the pass `const-arrays`.

use super::Sema;
use super::constant::CVal;
use super::tree::{Data, Init, InitPart};
use super::types::QTy;
use cloom_ir::Space;

/// The most constant values that stay stores.
const MAX_STORES: usize = 16;

impl Sema<'_> {
    /// Moves the constants of an initialiser to data, if they are many.
    pub(super) fn init_template(&mut self, init: &mut Init, qty: QTy, align: u64) {
        // The cheap tests come first. Parts that overlap would need their order, which the template loses.
        if init.parts.len() <= MAX_STORES || !self.types.is_aggregate(qty.ty) || !self.parts_are_apart(init) {
            return;
        }
        let Some((size, natural)) = self.types.layout(qty.ty).filter(|&(size, _)| size <= self.data_left) else {
            return;
        };
        let mut bytes = vec![0; size as usize];
        let mut constant = vec![false; init.parts.len()];
        for (part, constant) in init.parts.iter().zip(&mut constant) {
            let InitPart::Value(offset, value) = part else { return };
            // An address is no number before the program is loaded, and may be one of local memory.
            if self.types.is_aggregate(value.ty.ty) || value.is_error() {
                continue;
            }
            let Ok(CVal::Lanes(lanes)) = self.eval(value) else { continue };
            let mut at = Vec::new();
            self.put_lanes(&mut at, value.ty.ty, &lanes);
            if let Some(to) = bytes.get_mut(*offset as usize..*offset as usize + at.len()) {
                to.copy_from_slice(&at);
                *constant = true;
            }
        }
        if constant.iter().filter(|&&constant| constant).count() <= MAX_STORES {
            return;
        }
        // The template counts as constant data of the program.
        self.data_left -= size;
        let name = self.global_name(".template");
        let ty = QTy { space: Space::Constant, is_const: true, is_volatile: false, ..qty };
        let data = Data { bytes, relocs: Vec::new() };
        init.template = Some(self.add_global(name, ty, align.max(natural), Some(data)));
        let mut constant = constant.into_iter();
        init.parts.retain(|_| !constant.next().unwrap_or(false));
    }

    /// Whether all parts are values and no two overlap, so that their order does not matter.
    fn parts_are_apart(&self, init: &Init) -> bool {
        let mut ranges = Vec::with_capacity(init.parts.len());
        for part in &init.parts {
            let InitPart::Value(offset, value) = part else { return false };
            ranges.push((*offset, offset.saturating_add(self.types.size(value.ty.ty))));
        }
        ranges.sort_unstable();
        ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }
}
