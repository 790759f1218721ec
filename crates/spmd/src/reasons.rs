//! Reasons of decisions that carry no data: each has a code for programs and a sentence for people.

/// Declares an enum of reasons: for each its name, its code, its text. Codes stay when texts are reworded.
macro_rules! reasons {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $code:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its name, for programs. It stays when the text is reworded.
            pub fn code(self) -> &'static str {
                match self { $($name::$variant => $code,)* }
            }

            /// The reason in words.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

pub(crate) use reasons;
