//! A decision of the compiler as JSON.

use cloom_compiler::decisions::{Caller, Decision, Form, Shape};
use serde::Serialize;

/// A decision: its fields by their codes, which stay when texts are reworded, and its remark.
#[derive(Serialize)]
pub struct DecisionInfo {
    /// Its kind.
    code: &'static str,
    place: String,
    what: String,
    why: String,
    operation: &'static str,
    /// The functions that the code was inlined into, the nearest caller first and the kernel last.
    inlined: Vec<CallerInfo>,
    /// The name of the accessed array.
    array: Option<String>,
    /// How the lanes of the address or the condition are related: uniform, strided or varying.
    shape: Option<&'static str>,
    /// The stride in bytes.
    stride: Option<i64>,
    form: FormInfo,
    /// Whether lanes may be off.
    masked: bool,
    /// The form in code where lanes may be off, if it is another one.
    where_off: Option<FormInfo>,
    /// Whether the form is used only where a run-time check holds.
    checked: bool,
    cost: Option<u32>,
    alternative: Option<Alternative>,
    reason: &'static str,
}

/// A function that code was inlined into, and the position of the call in it; zeros if that is not known.
#[derive(Serialize)]
struct CallerInfo {
    function: String,
    line: u32,
    column: u16,
}

/// A form, with the number in it: of lanes, of a dimension, of a continuation.
#[derive(Serialize)]
struct FormInfo {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
}

/// The best other form.
#[derive(Serialize)]
struct Alternative {
    #[serde(flatten)]
    form: FormInfo,
    cost: u32,
}

impl FormInfo {
    fn new(form: Form) -> FormInfo {
        FormInfo { code: form.code(), number: form.number() }
    }
}

impl DecisionInfo {
    /// The fields of a decision about what is at `place`.
    pub fn new(decision: &Decision, place: String) -> DecisionInfo {
        let (shape, stride) = match decision.shape {
            None => (None, None),
            Some(Shape::Unknown | Shape::Uniform) => (Some("uniform"), None),
            Some(Shape::Strided { by, .. }) => (Some("strided"), Some(by)),
            Some(Shape::Varying) => (Some("varying"), None),
        };
        let caller = |Caller { function, span }: &Caller| CallerInfo {
            function: function.to_string(),
            line: span.line,
            column: span.col,
        };
        DecisionInfo {
            inlined: decision.inlined.iter().map(caller).collect(),
            code: decision.code(),
            place,
            what: decision.what(),
            why: decision.why().into_owned(),
            operation: decision.operation.code(),
            array: decision.array.clone(),
            shape,
            stride,
            form: FormInfo::new(decision.form),
            masked: decision.masked,
            where_off: decision.where_off.map(FormInfo::new),
            checked: decision.checked,
            cost: decision.cost,
            alternative: decision.alternative.map(|(form, cost)| Alternative { form: FormInfo::new(form), cost }),
            reason: decision.reason.code(),
        }
    }
}
