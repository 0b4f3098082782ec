//! The pipelines that keepstate offers: the action, the template, hooks, and the recipes of docs/ci.md. Their own text is run, in real
//! repositories, as far as that can be done without the services that they are for.

mod files;
mod github;
mod gitlab;
mod hooks;
mod recipes;
mod repository;
