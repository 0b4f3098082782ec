//! From text to statements. The only module that knows the parsing library.

pub mod ast;
