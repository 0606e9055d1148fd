//! A move in one line: `active orders 3, users 3: m1 -> m2, promoted: ..`.
use rdkafka_assignor::engine::{Move, MoveKind, Role};

/// The line.
pub fn line(one: &Move) -> String {
    let names: Vec<String> = one
        .names
        .iter()
        .map(|name| format!("{name} {}", one.partition))
        .collect();
    format!(
        "{} {}: {} -> {}, {}: {}",
        role(one.role),
        names.join(", "),
        one.from.as_deref().unwrap_or("nobody"),
        one.to.as_deref().unwrap_or("nobody"),
        kind(one.kind),
        one.reason
    )
}

/// The role's name in every output.
pub fn role(role: Role) -> &'static str {
    match role {
        Role::Active => "active",
        Role::Standby => "standby",
    }
}

/// The kind's name in every output.
pub fn kind(kind: MoveKind) -> &'static str {
    match kind {
        MoveKind::Promoted => "promoted",
        MoveKind::Cold => "cold",
        MoveKind::New => "new",
        MoveKind::Moved => "moved",
    }
}
