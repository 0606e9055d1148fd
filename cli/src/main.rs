//! The `assignor` command.
fn main() {}
