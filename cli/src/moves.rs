//! A move in one line: `active orders 3, users 3: m1 -> m2, promoted: ..`.
use rdkafka_assignor::engine::{Move, MoveKind, Role};

/// The line.
pub fn line(one: &Move) -> String {
    format!("{}: {}", subject(one), why(one))
}

/// What moves: `active orders 3, users 3`.
pub fn subject(one: &Move) -> String {
    let numbered = |name: &String| format!("{name} {}", one.partition);
    let names: Vec<String> = one.names.iter().map(numbered).collect();
    format!("{} {}", role(one.role), names.join(", "))
}

/// From whom to whom, the kind and the reason.
pub fn why(one: &Move) -> String {
    let member = |id: &Option<String>| id.as_deref().unwrap_or("nobody").to_owned();
    let (from, to) = (member(&one.from), member(&one.to));
    format!("{from} -> {to}, {}: {}", kind(one.kind), one.reason)
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
