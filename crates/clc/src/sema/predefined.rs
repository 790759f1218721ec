//! Names that the language has without a declaration, and suggestions for those that it does not have.

use super::Sema;
use super::builtins::atomics::{ORDERS, scope};
use super::builtins::builtin::all_names;
use super::scope::Entry;
use super::types::Ty;
use crate::source::{Span, Symbol};
use cloom_caps::feature;

impl Sema<'_> {
    /// The nearest spelling to `name` among visible names, keywords, macros and built-in functions.
    pub(super) fn similar_name(&self, name: Symbol, functions: bool) -> Option<String> {
        let text = self.text(name);
        if text.len() < 2 {
            // Every letter is like every other.
            return None;
        }
        let macros = self.session.macros.iter().copied();
        let mut visible: Vec<&str> = self.scopes.names().chain(macros).map(|s| self.text(s)).collect();
        for keyword in crate::syntax::keyword_texts() {
            visible.push(keyword);
        }
        if functions {
            for name in all_names() {
                visible.push(name);
            }
        }
        visible.sort_unstable();
        crate::source::nearest(text, visible).map(str::to_owned)
    }

    /// Constants that the language has without any declaration.
    pub(super) fn declare_predefined(&mut self) {
        let span = Span::default();
        for (name, value, _) in ORDERS {
            let name = self.session.names.intern(&format!("memory_order_{name}"));
            self.scopes.put(name, Entry::Constant(value, Ty::INT), span);
        }
        self.declare_enqueue();
        let scopes = [
            ("work_item", scope::WORK_ITEM),
            ("sub_group", scope::SUB_GROUP),
            ("work_group", scope::WORK_GROUP),
            ("device", scope::DEVICE),
        ];
        // Two names of one scope, of an optional feature (`__opencl_c_atomic_scope_all_devices`).
        let all = [("all_svm_devices", scope::ALL_DEVICES), ("all_devices", scope::ALL_DEVICES)];
        let all = if self.has_feature(feature::SCOPE_ALL_DEVICES) { &all[..] } else { &[] };
        for (name, value) in scopes.iter().chain(all) {
            let name = self.session.names.intern(&format!("memory_scope_{name}"));
            self.scopes.put(name, Entry::Constant(*value, Ty::INT), span);
        }
    }
}
