//! What bytes are: found out, or said by the user.
//!
//! User data of this assignor and of Faust's begins unmistakably. For the others the layouts decide: bytes are the first
//! of a subscription, an assignment, `cooperative-sticky` and `sticky` that they fit whole, else one of a later version.
use anyhow::bail;

use super::node::Node;
use super::{Kind, consumer, user_data};

/// Reads bytes of any kind.
///
/// # Errors
/// When they are of none, or of one that begins unmistakably but are broken.
pub fn any(bytes: &[u8]) -> anyhow::Result<Node> {
    if bytes.is_empty() {
        bail!("there are no bytes");
    }
    if user_data::is_unmistakable(bytes) {
        return user_data::read(bytes);
    }
    let ways = [
        consumer::whole_subscription,
        consumer::whole_assignment,
        |bytes: &[u8]| user_data::read(bytes).ok(),
        consumer::later_subscription,
        consumer::later_assignment,
    ];
    match ways.iter().find_map(|read| read(bytes)) {
        Some(read) => Ok(read),
        None => bail!(
            "this is no subscription ({}), no assignment ({}), and no user data that is known here; --kind reads it as \
             what you know it to be",
            fault(consumer::subscription(bytes)),
            fault(consumer::assignment(bytes)),
        ),
    }
}

fn fault(read: anyhow::Result<Node>) -> String {
    match read {
        Ok(_) => "there are bytes after its end".to_owned(),
        Err(fault) => fault.root_cause().to_string(),
    }
}

/// Reads bytes as what the user says.
///
/// # Errors
/// When they are something else.
pub fn of_kind(kind: Kind, bytes: &[u8]) -> anyhow::Result<Node> {
    match kind {
        Kind::Subscription => consumer::subscription(bytes),
        Kind::Assignment => consumer::assignment(bytes),
        Kind::UserData => user_data::read(bytes),
        Kind::Copartitioned => user_data::copartitioned(bytes),
        Kind::Faust => user_data::faust(bytes),
        Kind::Sticky => user_data::sticky(bytes),
        Kind::CooperativeSticky => user_data::cooperative_sticky(bytes),
    }
}
