//! Links as a file lists them.

use std::collections::BTreeMap;

use crate::error::ScenarioError;
use crate::network::MAX_NODES;
use crate::random::Probability;

/// The first line of a file of links.
const HEADER: &str = "from,to,delivery";

/// How likely frames arrive, for each pair of stations and each direction that a file lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkTable {
    /// What the file is called.
    file: String,
    /// By who sends and who receives: how likely a frame arrives, and the line that says so.
    links: BTreeMap<(u32, u32), (Probability, usize)>,
}

impl LinkTable {
    /// Reads the links in `text`, which is comma-separated: `from,to,delivery` in the first line, then one link a line. Lines that
    /// begin with `#` are comments. Errors call the text `file`.
    ///
    /// # Errors
    /// Says what is wrong and on which line.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let mut table = Self { file: file.into(), links: BTreeMap::new() };
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let wrong = |line, message: String| ScenarioError { file: file.into(), line: Some(line), message };
        match lines.next() {
            Some((_, header)) if header.split(',').map(str::trim).eq(HEADER.split(',')) => {}
            first => {
                let line = first.map_or(1, |(line, _)| line);
                return Err(wrong(line, format!("the first line is to be \"{HEADER}\"")));
            }
        }
        for (line, text) in lines {
            let (link, delivery) = parse_link(text).map_err(|message| wrong(line, message))?;
            if let Some((_, before)) = table.links.insert(link, (delivery, line)) {
                let (from, to) = link;
                return Err(wrong(
                    line,
                    format!("the link from {from} to {to} stands on line {before}, too"),
                ));
            }
        }
        Ok(table)
    }

    /// How likely a frame arrives; nothing if the file does not list the link.
    pub(crate) fn delivery(&self, link: (u32, u32)) -> Option<Probability> {
        self.links.get(&link).map(|&(delivery, _)| delivery)
    }

    /// What is wrong if the last node is `last`.
    pub(crate) fn check(&self, last: u32) -> Result<(), String> {
        let unknown = |&(&(from, to), _): &(&(u32, u32), &(Probability, usize))| from.max(to) > last;
        let beyond = self.links.iter().filter(unknown).min_by_key(|&(_, &(_, line))| line);
        match beyond {
            Some((&(from, to), (_, line))) => {
                Err(format!("{}:{line}: there is no node {}: the last is {last}", self.file, from.max(to)))
            }
            None => Ok(()),
        }
    }

    /// How likely a frame is lost where that is likeliest and frames arrive at all.
    pub(crate) fn worst_loss(&self) -> Probability {
        let deliveries = self.links.values().map(|&(delivery, _)| delivery).filter(|p| p.happens_ever());
        deliveries.min().map_or(Probability::NEVER, Probability::not)
    }
}

fn parse_link(text: &str) -> Result<((u32, u32), Probability), String> {
    let fields: Vec<_> = text.split(',').map(str::trim).collect();
    let &[from, to, delivery] = fields.as_slice() else {
        return Err(format!(
            "\"{text}\" is not a link: from, to and delivery are wanted, such as \"0,1,0.9\""
        ));
    };
    let node = |name: &str, text: &str| match text.parse::<u32>() {
        Ok(id) if id <= MAX_NODES => Ok(id),
        _ => {
            Err(format!("{name}: \"{text}\" is not the number of a node, 0 to {MAX_NODES}; the router is 0"))
        }
    };
    let (from, to) = (node("from", from)?, node("to", to)?);
    if from == to {
        return Err(format!("the link goes from node {from} to itself"));
    }
    let probability = delivery.parse().ok().and_then(Probability::new);
    let wrong = || {
        format!("delivery: \"{delivery}\" is not a number between 0 and 1, the share of frames that arrive")
    };
    Ok(((from, to), probability.ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_a_link_are_links_of_their_own() {
        let text = "# measured\nfrom, to, delivery\n\n0,1,0.9\n1,0,1\n 1 , 2 , 0.25\n2,1,0\n";
        let table = LinkTable::parse("l", text).unwrap();
        let delivery = |from, to| table.delivery((from, to)).map(Probability::per_cent);
        assert_eq!(delivery(0, 1).as_deref(), Some("90.0 %"));
        assert_eq!(delivery(1, 0).as_deref(), Some("100.0 %"));
        assert_eq!(delivery(2, 1).as_deref(), Some("0.0 %"));
        assert_eq!(delivery(0, 2), None);
        assert_eq!(table.check(2), Ok(()));
        assert_eq!(table.check(1), Err("l:6: there is no node 2: the last is 1".into()));
        assert_eq!(table.worst_loss().per_cent(), "75.0 %");
    }

    #[test]
    fn what_is_no_link_is_refused_with_its_line() {
        for (text, message) in [
            ("", "l:1: the first line is to be \"from,to,delivery\""),
            ("\n0,1,1\n", "l:2: the first line is to be \"from,to,delivery\""),
            (
                "from,to,delivery\n0,1",
                "l:2: \"0,1\" is not a link: from, to and delivery are wanted, such as \"0,1,0.9\"",
            ),
            (
                "from,to,delivery\n0,1,1.5",
                "l:2: delivery: \"1.5\" is not a number between 0 and 1, the share of frames that arrive",
            ),
            ("from,to,delivery\n3,3,1", "l:2: the link goes from node 3 to itself"),
            ("from,to,delivery\n0,1,1\n1,0,1\n0,1,0.5", "l:4: the link from 0 to 1 stands on line 2, too"),
        ] {
            assert_eq!(LinkTable::parse("l", text).unwrap_err().to_string(), message);
        }
        let wrong = LinkTable::parse("l", "from,to,delivery\nx,1,1").unwrap_err().to_string();
        assert!(wrong.starts_with("l:2: from: \"x\" is not the number of a node, 0 to "), "{wrong}");
    }
}
