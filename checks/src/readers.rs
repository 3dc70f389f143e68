//! For whom the guides are: the table of README.md, one column for each kind of reader.

/// A column of the table: who reads, and the documents listed for them.
#[derive(Debug, PartialEq, Eq)]
pub struct Reader {
    /// The column's heading: what the reader does.
    pub name: String,
    /// The titles and paths of the documents in it, from the top.
    pub documents: Vec<(String, String)>,
}

/// The columns of the first table in `text` whose cells are links; none if there is no such table.
pub fn readers(text: &str) -> Vec<Reader> {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let Some((heads, rows)) = rows.split_first() else { return Vec::new() };
    let column = |place: usize| {
        let cells = rows.iter().filter_map(move |row| row.get(place));
        cells.filter_map(|cell| link(cell)).collect()
    };
    let heads = heads.iter().enumerate();
    heads.map(|(place, name)| Reader { name: (*name).to_owned(), documents: column(place) }).collect()
}

/// The text and the target of a cell that is a link.
fn link(cell: &str) -> Option<(String, String)> {
    let (title, path) = cell.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    Some((title.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_a_reader() {
        let text = "Words.\n\n| You build | You run |\n| --- | --- |\n| [A](a.md) | [B](b.md) |\n| [C](c.md) | |\n\n| x |\n";
        let document = |title: &str, path: &str| (title.to_owned(), path.to_owned());
        let expected = [
            Reader {
                name: "You build".into(),
                documents: vec![document("A", "a.md"), document("C", "c.md")],
            },
            Reader { name: "You run".into(), documents: vec![document("B", "b.md")] },
        ];
        assert_eq!(readers(text), expected);
        assert_eq!(readers("No table."), []);
    }
}
