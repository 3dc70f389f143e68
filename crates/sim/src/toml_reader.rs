//! Reading TOML tables key by key, so that each error names its line and, for an unknown key, the
//! nearest one that exists.

use core::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ScenarioError;

/// How near a key must be to be taken for what was meant: two in three letters.
const NEAR: f64 = 0.65;

/// A string, and where it stands.
type PlacedString<'a> = (&'a str, Range<usize>);

/// A file's text, to make errors of.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// How errors call the file.
    pub file: &'a str,
    /// What is in it.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// The tables of the file.
    ///
    /// # Errors
    /// When it is not TOML, with the line.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, ScenarioError> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let key = self.text.get(span.clone()).filter(|_| error.message() == "duplicate key");
            let twice = key.map(|key| format!("{key} is there twice: leave one out"));
            self.error(span, twice.unwrap_or_else(|| error.message().into()))
        })
    }

    /// An error at `span`.
    pub(crate) fn error(self, span: Range<usize>, message: impl Into<String>) -> ScenarioError {
        ScenarioError { file: self.file.into(), line: self.line(span), message: message.into() }
    }

    /// Where what does not stand in the text is taken to stand.
    pub(crate) const fn beyond(self) -> usize {
        self.text.len() + 1
    }

    /// The line of what stands at `span`, if that is in the text.
    fn line(self, span: Range<usize>) -> Option<usize> {
        let before = self.text.get(..span.start)?;
        Some(1 + before.bytes().filter(|&byte| byte == b'\n').count())
    }
}

/// One table, and which of its keys were asked for.
pub struct Section<'a, 'i> {
    source: Source<'a>,
    /// How errors call the table: `[radio]`.
    name: &'static str,
    /// Where it stands.
    at: Range<usize>,
    table: Option<&'a DeTable<'i>>,
    known: Vec<&'static str>,
}

impl<'a, 'i> Section<'a, 'i> {
    /// The keys of a table of the file; `name` is how errors call it.
    pub fn new(source: Source<'a>, name: &'static str, table: &'a DeTable<'i>) -> Self {
        Self { source, name, at: 0..0, table: Some(table), known: Vec::new() }
    }

    fn value(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'i>>> {
        self.known.push(key);
        self.table?.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    /// Takes `key` for one that something else reads.
    pub(crate) fn skip(&mut self, key: &'static str) {
        self.known.push(key);
    }

    /// Where `key` stands, if it does.
    pub fn span(&self, key: &str) -> Option<Range<usize>> {
        self.table?.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(name, _)| name.span())
    }

    /// The line on which `key` stands; that of the table if it does not. Nothing of what is not in the text.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.source.line(self.span(key).unwrap_or(self.at.clone()))
    }

    /// An error about the value of `key`.
    pub fn error(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        self.source.error(self.span(key).unwrap_or(self.at.clone()), message)
    }

    /// The table at `key`; an absent one is as an empty one.
    ///
    /// # Errors
    /// When there is something else.
    pub fn section(
        &mut self,
        key: &'static str,
        name: &'static str,
    ) -> Result<Section<'a, 'i>, ScenarioError> {
        let Some(value) = self.value(key) else {
            return Ok(Section {
                source: self.source,
                name,
                at: self.at.clone(),
                table: None,
                known: Vec::new(),
            });
        };
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.error(key, format!("{name} is not a table")))?;
        Ok(Section { at: value.span(), ..Section::new(self.source, name, table) })
    }

    /// The tables of the array at `key`.
    pub(crate) fn sections(
        &mut self,
        key: &'static str,
        name: &'static str,
    ) -> Result<Vec<Section<'a, 'i>>, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let wrong = || self.error(key, format!("write each {key} as a table headed {name}"));
        let array = value.get_ref().as_array().ok_or_else(wrong)?;
        let section = |entry: &'a Spanned<DeValue<'i>>| {
            let table = entry.get_ref().as_table().ok_or_else(wrong)?;
            Ok(Section { at: entry.span(), ..Section::new(self.source, name, table) })
        };
        array.iter().map(section).collect()
    }

    /// The string at `key`.
    ///
    /// # Errors
    /// When there is something else.
    pub fn string(&mut self, key: &'static str) -> Result<Option<&'a str>, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let string = value.get_ref().as_str();
        let string =
            string.ok_or_else(|| self.error(key, format!("{key} is not a string: write it in quotes")))?;
        match string.contains(char::is_control) {
            true => Err(self.error(key, format!("{key} has a control character in it, such as a new line"))),
            false => Ok(Some(string)),
        }
    }

    /// The strings of the array at `key`, each with where it stands, or nothing if the key is not there. `example` is one of them.
    fn list(
        &mut self,
        key: &'static str,
        example: &str,
    ) -> Result<Option<Vec<PlacedString<'a>>>, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let string = |value: &'a Spanned<DeValue<'i>>| Some((value.get_ref().as_str()?, value.span()));
        let list = value.get_ref().as_array().and_then(|array| array.iter().map(string).collect());
        let wrong = || self.error(key, format!("{key} is not an array of strings, such as [\"{example}\"]"));
        list.map(Some).ok_or_else(wrong)
    }

    /// Those of `choices` that the strings of the array at `key` name, or nothing if it is not there.
    ///
    /// # Errors
    /// When there is something else.
    pub fn choices<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<Vec<T>>, ScenarioError> {
        let Some(list) = self.list(key, choices[0].0)? else { return Ok(None) };
        let each = list.into_iter().map(|(text, span)| {
            let wrong = |why| self.source.error(span, format!("{key}: {why}"));
            chosen(text, choices).map_err(wrong)
        });
        each.collect::<Result<_, _>>().map(Some)
    }

    /// The strings of the array at `key`; none if it is not there.
    ///
    /// # Errors
    /// When there is something else.
    pub fn strings(&mut self, key: &'static str) -> Result<Vec<&'a str>, ScenarioError> {
        let list = self.list(key, "a")?.unwrap_or_default();
        Ok(list.into_iter().map(|(text, _)| text).collect())
    }

    /// What `parse` makes of the string at `key`.
    pub(crate) fn parsed<T, E: ToString>(
        &mut self,
        key: &'static str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ScenarioError> {
        match self.string(key)? {
            None => Ok(default),
            Some(text) => {
                parse(text).map_err(|error| self.error(key, format!("{key}: {}", error.to_string())))
            }
        }
    }

    /// The one of `choices` that the string at `key` names; the first if there is none.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, ScenarioError> {
        self.parsed(key, choices[0].1, |text| chosen(text, choices))
    }

    /// Whether there is a number at `key`.
    pub(crate) fn is_number(&mut self, key: &'static str) -> bool {
        self.value(key).is_some_and(|value| value.get_ref().as_integer().is_some())
    }

    /// The number at `key`, which must lie in `range`.
    pub(crate) fn integer(
        &mut self,
        key: &'static str,
        default: u64,
        range: core::ops::RangeInclusive<u64>,
    ) -> Result<u64, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(default) };
        whole_number(value)
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.error(key, not_within(key, &range)))
    }

    /// The whole number at `key`, which must lie in `range`, if it is there.
    ///
    /// # Errors
    /// When there is something else.
    pub fn optional_integer(
        &mut self,
        key: &'static str,
        range: core::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, ScenarioError> {
        let number = self.integer(key, *range.start(), range)?;
        Ok(self.span(key).map(|_| number))
    }

    /// The numbers of the array at `key`, each of which must lie in `range`; none if it is not there.
    pub(crate) fn integers(
        &mut self,
        key: &'static str,
        range: core::ops::RangeInclusive<u64>,
    ) -> Result<Vec<u64>, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let numbers = value.get_ref().as_array().and_then(|array| {
            array.iter().map(|value| whole_number(value).filter(|number| range.contains(number))).collect()
        });
        numbers.ok_or_else(|| {
            let (first, last) = (range.start(), range.end());
            self.error(
                key,
                format!(
                    "{key} is not an array of whole numbers between {first} and {last}, such as [{first}]"
                ),
            )
        })
    }

    /// The fraction at `key`.
    ///
    /// # Errors
    /// When there is something else.
    pub fn float(&mut self, key: &'static str, default: f64) -> Result<f64, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(default) };
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => integer.as_str().parse().ok(),
            _ => None,
        };
        let form = "write it without quotes or unit, such as 0.1 for 10 %";
        number.ok_or_else(|| self.error(key, format!("{key} is not a number: {form}")))
    }

    /// The truth value at `key`.
    ///
    /// # Errors
    /// When there is something else.
    pub fn boolean(&mut self, key: &'static str, default: bool) -> Result<bool, ScenarioError> {
        let Some(value) = self.value(key) else { return Ok(default) };
        value.get_ref().as_bool().ok_or_else(|| self.error(key, format!("{key} is neither true nor false")))
    }

    /// Refuses keys that belong to another choice than the one that was made at the key `by`: each of `keys` stands with the choice that has it.
    pub(crate) fn refuse_keys_of_others(
        &self,
        by: &str,
        chosen: &str,
        keys: &[(&str, &str)],
    ) -> Result<(), ScenarioError> {
        let is_foreign = |(key, of): &&(&str, &str)| *of != chosen && self.span(key).is_some();
        match keys.iter().find(is_foreign) {
            Some((key, of)) => Err(self.error(key, format!("{key} belongs to {by} = \"{of}\""))),
            None => Ok(()),
        }
    }

    /// Refuses keys that nobody asked for.
    ///
    /// # Errors
    /// When there is one; the nearest of the others is named.
    pub fn finish(self) -> Result<(), ScenarioError> {
        let Some(table) = self.table else { return Ok(()) };
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) {
                let message = format!("unknown key `{name}` in {}{}", self.name, self.hint(name));
                return Err(self.source.error(key.span(), message));
            }
        }
        Ok(())
    }

    /// Which key was meant instead of `name`, or which there are if none is near.
    fn hint(&self, name: &str) -> String {
        if let Some(known) = nearest(name, self.known.iter().copied()) {
            return format!("; did you mean `{known}`?");
        }
        let mut known: Vec<_> = self.known.iter().map(|known| format!("`{known}`")).collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
    }
}

/// The one of `choices` that `text` names, or why there is none.
fn chosen<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let hint = did_you_mean(text, choices.iter().map(|(name, _)| *name));
        format!("\"{text}\" is not {}{hint}", names.join(" or "))
    })
}

/// The one of `known` that was meant by `name`, if one is near.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearness = |known: &str| strsim::normalized_damerau_levenshtein(known, name);
    known.filter(|known| nearness(known) >= NEAR).max_by(|a, b| nearness(a).total_cmp(&nearness(b)))
}

/// The end of an error about a value that is none of `known`: which was meant, if one is near.
pub fn did_you_mean<'a>(value: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(value, known).map(|known| format!("; did you mean \"{known}\"?")).unwrap_or_default()
}

/// What is wrong with the number at `key` if it does not lie in `range`.
pub(crate) fn not_within(key: &str, range: &core::ops::RangeInclusive<u64>) -> String {
    format!("{key} is not a whole number between {} and {}", range.start(), range.end())
}

fn whole_number(value: &Spanned<DeValue<'_>>) -> Option<u64> {
    let number = value.get_ref().as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}
