//! The tables of what Cloom offers: extensions, features, limits
