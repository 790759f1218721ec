//! What is wrong with a module, and where.

use crate::reader::Inst;
use std::fmt;

/// Why a module is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Error {
    message: String,
    /// The instruction, and the word at which it begins.
    place: Option<(String, usize)>,
}

/// The result of all steps.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), place: None }
    }

    /// With the instruction at which it was found, unless one is known already.
    pub(crate) fn at(mut self, inst: &Inst<'_>) -> Error {
        self.place.get_or_insert_with(|| (format!("Op{:?}", inst.op), inst.at));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((op, word)) => write!(f, "{op} at word {word}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Refuses the module.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::error::Error::new(format!($($text)*))) };
}

/// Refuses the module unless something holds.
macro_rules! ensure {
    ($good:expr, $($text:tt)*) => { if !$good { return Err($crate::error::Error::new(format!($($text)*))); } };
}

pub(crate) use {bail, ensure};
