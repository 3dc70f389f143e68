use crate::error::ScenarioError;
use crate::random::Probability;
use crate::time::Span;
use crate::toml_reader::Section;
use crate::units::{parse_duration, parse_length, parse_span};

use super::{Attack, AttackKind, AttackedFrom, Flood};

/// A kind without what further keys say of it.
const KINDS: [(&str, AttackKind); 13] = {
    use AttackKind::{BlackHole, Flood as F, Forge, Inject, Jam, SinkHole};
    const ALL: [AttackKind; 13] = [
        Jam,
        AttackKind::Replay { after: Span::from_secs(300) },
        Inject,
        Forge,
        F(Flood::Hello),
        F(Flood::Dio),
        F(Flood::Dao),
        F(Flood::Dis),
        F(Flood::Handshakes),
        BlackHole,
        SinkHole,
        AttackKind::Wormhole { x: 0, y: 0 },
        AttackKind::SelectiveForwarding { share: Probability::HALF },
    ];
    let mut kinds = [("", Jam); 13];
    let mut at = 0;
    while at < ALL.len() {
        kinds[at] = (ALL[at].name(), ALL[at]);
        at += 1;
    }
    kinds
};

/// The time between two frames or packets of that kind, if nothing is said of it.
const fn usual_pause(kind: AttackKind) -> Span {
    match kind {
        AttackKind::Jam => Span::from_millis(5),
        AttackKind::Flood(Flood::Hello) | AttackKind::SinkHole => Span::from_secs(5),
        AttackKind::Inject | AttackKind::Forge => Span::from_secs(10),
        _ => Span::from_millis(200),
    }
}

/// Reads an `[[attack]]`.
pub(in crate::scenario) fn read(mut section: Section<'_, '_>) -> Result<Attack, ScenarioError> {
    if section.span("kind").is_none() {
        return Err(section.error("kind", "an [[attack]] needs a kind, such as \"jam\""));
    }
    let kind = section.choice("kind", &KINDS)?;
    let kind = read_details(&mut section, kind)?;
    let by = read_place(&mut section, kind)?;
    let start = section.parsed("start", Span::ZERO, parse_span)?;
    let end = section.parsed("end", None, |text| parse_span(text).map(Some))?;
    let every = section.parsed("every", usual_pause(kind), parse_duration)?;
    let target = section.optional_integer("target", 0..=u32::MAX.into())?.map(|target| target as u32);
    if target == Some(0) {
        return Err(section.error("target", "the border router, 0, is no target: name a node"));
    }
    let range = section.parsed("range", None, |text| parse_length(text).map(Some))?;
    section.finish()?;
    Ok(Attack { kind, by, start, end, every, target, range })
}

/// The keys that one kind has alone.
fn read_details(section: &mut Section<'_, '_>, kind: AttackKind) -> Result<AttackKind, ScenarioError> {
    Ok(match kind {
        AttackKind::Replay { after } => {
            AttackKind::Replay { after: section.parsed("after", after, parse_duration)? }
        }
        AttackKind::SelectiveForwarding { .. } => {
            let share = section.float("share", 0.5)?;
            let share = Probability::new(share).filter(|share| share.happens_ever());
            let wrong = "share is a probability more than 0.0, up to 1.0";
            AttackKind::SelectiveForwarding { share: share.ok_or_else(|| section.error("share", wrong))? }
        }
        AttackKind::Wormhole { .. } => {
            if section.span("to_x").or(section.span("to_y")).is_none() {
                return Err(section.error("kind", "a wormhole needs to_x and to_y: where its other end is"));
            }
            AttackKind::Wormhole {
                x: section.parsed("to_x", 0, parse_length)?,
                y: section.parsed("to_y", 0, parse_length)?,
            }
        }
        _ => kind,
    })
}

/// Where the attacker is: at a place, or in a captured node.
fn read_place(section: &mut Section<'_, '_>, kind: AttackKind) -> Result<AttackedFrom, ScenarioError> {
    let is_placed = section.span("x").is_some() || section.span("y").is_some();
    let node = section.integer("node", 1, 0..=u32::MAX.into())? as u32;
    if node == 0 {
        return Err(section.error("node", "the border router, 0, cannot be captured: name a node"));
    }
    let (x, y) = (section.parsed("x", 0, parse_length)?, section.parsed("y", 0, parse_length)?);
    match (section.span("node").is_some(), is_placed) {
        (true, true) => {
            Err(section.error("node", "an attacker is at a place (x, y) or in a captured node, not both"))
        }
        (true, false) => Ok(AttackedFrom::Node(node)),
        (false, true) if kind.is_of_captured_nodes() => {
            let message =
                format!("a {} is a captured node: name it by node, in place of x and y", kind.name());
            Err(section.error("x", message))
        }
        (false, true) => Ok(AttackedFrom::Position { x, y }),
        (false, false) => {
            Err(section
                .error("kind", "an attacker needs a place (x and y), or a node that is captured (node)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_every_kind_and_no_other() {
        let text = include_str!("../../../../../docs/attacks.md");
        let table = text.split("| `kind` | what it does").nth(1).unwrap_or_default();
        let documented: Vec<_> =
            table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(documented, KINDS.map(|(name, _)| name));
    }
}
