//! `keepstate lsp`: the check while a script is being edited, over the Language Server Protocol.
//!
//! [`wire`] brings messages in and out, [`protocol`] are the parts of the protocol that are spoken, [`text`] the positions that it
//! counts in. [`server`] keeps the open documents and answers; what is said about a document is found by [`analysis`], in a thread of
//! its own, so that a large file never holds up the editor: the newest text wins, and what was found of an older one is dropped.
//! The rest puts what was found into the protocol's words.
//!
//! The only module that knows the protocol. It is written here rather than taken from a library, since a message that is no JSON has
//! to be answered and survived.

mod actions;
mod analysis;
mod diagnostics;
mod explain;
mod hover;
mod options;
mod places;
mod projects;
mod protocol;
mod server;
mod text;
mod uri;
mod wire;

pub use server::serve;
