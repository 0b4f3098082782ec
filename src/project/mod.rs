//! A project on disk: its files, what holds for them, and the two sides that a check compares.
//!
//! The command line and the editor's server look at a project through this module; nothing else touches files.

pub mod checkout;
pub mod files;
pub mod input;
pub mod settings;
pub mod sides;
