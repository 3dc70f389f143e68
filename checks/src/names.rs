//! The names of items, and the words that names may not be.

use std::collections::BTreeSet;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Field, Ident, UseRename, Variant};

/// The heading under which the glossary lists the words that were replaced.
const HEADING: &str = "## Words that were replaced";

/// The heading under which it lists those that look like them, and are kept.
const KEPT: &str = "## Words that were kept";

/// The end of the first column there, in rows whose words may be names of an enum's variants.
const AS_VARIANTS: &str = "as variants of an enum";

/// The second column's entry for a word that was replaced in all folders.
const EVERYWHERE: &str = "everywhere";

/// A word that names no item any more.
#[derive(Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The word.
    pub word: String,
    /// The folders where that is so; none for all.
    pub folders: Vec<String>,
    /// Whether a variant of an enum may have it all the same, as the enum's name says of what it is.
    pub may_be_variant: bool,
}

/// The lines of the section of `glossary` below `heading` that are rows of its table.
fn rows<'a>(glossary: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    let section = glossary.split_once(heading).map_or("", |(_, section)| section);
    let section = section.split("\n## ").next().unwrap_or_default();
    section.lines().filter(|line| line.starts_with("| `"))
}

/// The words that `glossary` lists as replaced: the code spans in the first column of the table, each in the folders that are the code
/// spans in the second column, or everywhere. Which of them variants may have says the table of words that were kept.
///
/// # Errors
/// When a row says neither.
pub fn replaced(glossary: &str) -> Result<Vec<Replaced>, String> {
    let kept = rows(glossary, KEPT).filter_map(|row| row.split('|').nth(1));
    let variants: Vec<_> =
        kept.filter(|words| words.trim_end().ends_with(AS_VARIANTS)).flat_map(spans).collect();
    let mut all = Vec::new();
    for row in rows(glossary, HEADING) {
        let mut cells = row.split('|').skip(1);
        let (words, place) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let folders = spans(place);
        let beside: String = place.split('`').step_by(2).collect();
        let expected = if folders.is_empty() { EVERYWHERE } else { "" };
        if beside.trim_matches([',', ' ']) != expected {
            return Err(format!("{row}: the second column is to be {EVERYWHERE}, or folders as code"));
        }
        all.extend(spans(words).into_iter().map(|word| {
            let may_be_variant = variants.contains(&word);
            Replaced { word, folders: folders.clone(), may_be_variant }
        }));
    }
    Ok(all)
}

fn spans(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What the file `path`, in the workspace's folder, names by one of these words: a sentence for each.
///
/// # Panics
///
/// When `source` is not Rust.
pub fn violations(path: &Path, source: &str, replaced: &[Replaced]) -> Vec<String> {
    let parsed = syn::parse_file(source).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut names = Names::default();
    names.visit_file(&parsed);
    names.items.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    let is_here = |replaced: &&Replaced| {
        replaced.folders.is_empty() || replaced.folders.iter().any(|folder| path.starts_with(folder))
    };
    let found = replaced.iter().filter(is_here).filter(|replaced| names.break_rule_of(replaced));
    found
        .map(|Replaced { word, .. }| {
            format!("{}: {word} was replaced: docs/glossary.md says by which word", path.display())
        })
        .collect()
}

/// The names in a file.
#[derive(Default)]
struct Names {
    /// Those of types, traits, functions, fields, constants, parameters of types and modules, and those that imports are given.
    items: BTreeSet<String>,
    /// Those of variants.
    variants: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: &Ident) {
        self.items.insert(name.to_string());
    }

    fn break_rule_of(&self, Replaced { word, may_be_variant, .. }: &Replaced) -> bool {
        self.items.contains(word) || !may_be_variant && self.variants.contains(word)
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
        self.add(&item.ident);
        visit::visit_trait_item_type(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.add(&signature.ident);
        visit::visit_signature(self, signature);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        field.ident.iter().for_each(|name| self.add(name));
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.variants.insert(variant.ident.to_string());
        visit::visit_variant(self, variant);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.add(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.add(&item.ident);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.add(&item.ident);
        visit::visit_trait_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.add(&item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_type_param(&mut self, parameter: &'ast syn::TypeParam) {
        self.add(&parameter.ident);
        visit::visit_type_param(self, parameter);
    }

    fn visit_const_param(&mut self, parameter: &'ast syn::ConstParam) {
        self.add(&parameter.ident);
        visit::visit_const_param(self, parameter);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.add(&item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_use_rename(&mut self, renamed: &'ast UseRename) {
        self.add(&renamed.rename);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "\
# Glossary

| `floor` | a group |

## Words that were replaced

| word | where | now |
|---|---|---|
| `Door`, `doors` | everywhere | `Listener` |
| `Due` | everywhere | `Timeout` |
| `told` | `crates/a`, `crates/b` | `on_notified` |

## Words that were kept

| `Full` | it is short |
| `Due`, as variants of an enum | the enum's name says of what |
";

    fn found(path: &str, source: &str) -> Vec<String> {
        let violations = violations(Path::new(path), source, &replaced(GLOSSARY).unwrap());
        violations.iter().map(|found| found.split(' ').nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn the_table_of_replaced_words_is_read_and_no_other() {
        let words: Vec<_> = replaced(GLOSSARY).unwrap().into_iter().map(|replaced| replaced.word).collect();
        assert_eq!(words, ["Door", "doors", "Due", "told"]);
        assert_eq!(replaced(GLOSSARY).unwrap()[3].folders, ["crates/a", "crates/b"]);
    }

    #[test]
    fn a_row_that_does_not_say_where_is_an_error() {
        for place in ["", "in most crates", "everywhere but `crates/a`"] {
            let glossary = format!("{HEADING}\n\n| `Door` | {place} | `Listener` |\n");
            assert!(replaced(&glossary).unwrap_err().contains("Door"), "{place}");
        }
    }

    #[test]
    fn each_kind_of_item_may_not_have_a_replaced_name() {
        for source in [
            "struct Door;",
            "pub(crate) enum Door {}",
            "trait Door {}",
            "trait Listener { type Door; }",
            "type Door = u8;",
            "use crate::Listener as Door;",
            "fn f() { struct Door; }",
            "mod inner { pub struct Door(u8); }",
            "enum Listener { Door }",
            "const Door: u8 = 0;",
            "static Door: u8 = 0;",
            "impl S { const Door: u8 = 0; }",
            "trait Listener { const Door: u8; }",
            "struct Listener<Door>(Door);",
            "fn listen<const Door: usize>() {}",
        ] {
            assert_eq!(found("crates/c/src/lib.rs", source), ["Door"], "{source}");
        }
        assert_eq!(found("crates/c/src/lib.rs", "mod doors;"), ["doors"]);
        assert_eq!(found("crates/c/src/doors.rs", ""), ["doors"]);
        for source in [
            "fn told() {}",
            "struct S { told: bool }",
            "enum E { V { told: u8 } }",
            "impl S { fn told(&self) {} }",
            "trait T { fn told(&self); }",
        ] {
            assert_eq!(found("crates/a/src/lib.rs", source), ["told"], "{source}");
        }
    }

    #[test]
    fn a_variant_may_have_a_name_that_its_enum_explains_and_nothing_else_may() {
        assert_eq!(found("crates/c/src/lib.rs", "enum Ping { None, Due }"), [""; 0]);
        assert_eq!(found("crates/c/src/lib.rs", "struct Due;"), ["Due"]);
    }

    #[test]
    fn comments_variables_longer_names_and_other_folders_may() {
        assert_eq!(found("crates/a/src/lib.rs", "// Door\nfn f() { let told = \"Door\"; }"), [""; 0]);
        assert_eq!(found("crates/a/src/lib.rs", "struct DoorKey; fn is_told() {}"), [""; 0]);
        assert_eq!(found("crates/ab/src/lib.rs", "fn told() {}"), [""; 0]);
    }
}
