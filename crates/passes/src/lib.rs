//! Scalar optimisation passes over the IR
