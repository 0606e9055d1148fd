//! What happens to the group: members come, leave, die and are replaced.
use std::time::Duration;

use super::event::Holding;
use super::group::Group;
use super::show::say;

/// So long the group works undisturbed between two changes.
const WORK: Duration = Duration::from_secs(1);

/// So long a change may take until the group has settled.
const SETTLE: Duration = Duration::from_secs(20);

/// Plays it; ends early when the group does not settle.
///
/// # Errors
/// A process cannot be started or killed.
pub fn play(group: &mut Group, members: u32, standbys: u32) -> anyhow::Result<()> {
    let _ = begin(group, members)?
        && one_joins(group)?
        && one_leaves(group)
        && one_dies(group, standbys)?
        && one_joins(group)?
        && one_is_replaced(group)?;
    Ok(())
}

fn begin(group: &mut Group, members: u32) -> anyhow::Result<bool> {
    let names: anyhow::Result<Vec<String>> = (0..members).map(|_| group.join()).collect();
    say(format!("# {} join", names?.join(", ")));
    Ok(settle(group))
}

fn one_joins(group: &mut Group) -> anyhow::Result<bool> {
    let name = group.join()?;
    say(format!("\n# {name} joins"));
    Ok(settle(group))
}

fn one_leaves(group: &mut Group) -> bool {
    if let Some(name) = a_follower(group) {
        say(format!("\n# {name} leaves"));
        group.leave(&name);
    }
    settle(group)
}

/// The application's leader dies, if it has work: then a standby must take its place.
fn one_dies(group: &mut Group, standbys: u32) -> anyhow::Result<bool> {
    let rank = |holding: &Holding| (group.has_tasks(holding), holding.leader);
    let victim = group
        .view
        .holdings()
        .max_by_key(|(_, holding)| rank(holding));
    let Some((name, holding)) = victim else {
        return Ok(true);
    };
    let (name, has_tasks) = (name.to_owned(), group.has_tasks(holding));
    let (survivors, promoted) = (group.view.members().count() - 1, group.view.promoted());
    say(format!("\n# {name} is killed"));
    group.kill(&name)?;
    let settled = settle(group);
    if has_tasks && standbys > 0 && survivors > 0 && group.view.promoted() == promoted {
        group
            .verdict
            .fault(format!("{name} died and no standby was promoted"));
    }
    Ok(settled)
}

fn one_is_replaced(group: &mut Group) -> anyhow::Result<bool> {
    if let Some(name) = a_follower(group) {
        group.leave(&name);
        let newcomer = group.join()?;
        say(format!("\n# {newcomer} takes the place of {name}"));
    }
    Ok(settle(group))
}

/// A member that does not lead the application, if there is one.
fn a_follower(group: &Group) -> Option<String> {
    let leader = group.view.leader();
    let follower = group.view.members().find(|name| Some(*name) != leader);
    follower.or(leader).map(str::to_owned)
}

fn settle(group: &mut Group) -> bool {
    let settled = group.settle(SETTLE);
    group.listen(WORK, |_| false);
    settled
}
