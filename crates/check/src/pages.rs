//! The pages about the kinds of findings, for users: what it is, an example, what mends it.
//!
//! The pages are Markdown files beside the sources. Their examples are tests.

use crate::kind::Kind;

macro_rules! pages {
    ($($kind:ident $name:literal,)*) => {
        /// The page of a kind.
        pub fn page(kind: Kind) -> &'static str {
            match kind {
                $(Kind::$kind => include_str!(concat!("../pages/", $name, ".md")),)*
            }
        }
    };
}

pages! {
    OutOfBounds "out-of-bounds",
    ArrayIndex "array-index",
    NullPointer "null-pointer",
    DanglingPointer "dangling-pointer",
    InvalidPointer "invalid-pointer",
    Misaligned "misaligned",
    WriteToConstant "write-to-constant",
    ReadOfWriteOnly "read-of-write-only",
    Uninitialised "uninitialised",
    RaceLocal "race-local",
    RaceGlobal "race-global",
    RaceGroups "race-groups",
    RaceLaunches "race-launches",
    AsyncCopy "async-copy",
    BarrierDivergence "barrier-divergence",
    AsyncNotWaited "async-not-waited",
    DivisionByZero "division-by-zero",
    DivisionOverflow "division-overflow",
    ShiftRange "shift-range",
    SignedOverflow "signed-overflow",
    ConversionRange "conversion-range",
    Endless "endless",
    ImageCoordinates "image-coordinates",
    ImageFormat "image-format",
    ApiError "api-error",
    ApiLeak "api-leak",
    ApiPending "api-pending",
    ApiMap "api-map",
    ApiUnwritten "api-unwritten",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_about_its_kind() {
        for &kind in Kind::ALL {
            assert!(page(kind).starts_with(&format!("# {kind}: ")), "{kind}");
        }
    }
}
