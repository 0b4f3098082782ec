//! The `keepstate` program: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    keepstate::cli::main()
}
