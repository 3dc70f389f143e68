//! Rings of imports: modules of one crate that need each other.
//!
//! A module is a file. It imports another if it names something that stands there: in a `use`, or by a path in its code. A name that was
//! re-exported on the way is looked up where it stands, so that a crate's front page joins nothing. Tests may name everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, MetaList, UseTree};

/// How often a name may be re-exported on its way.
const LONGEST_WAY: usize = 16;

/// The modules of a crate, by their path in it: that of the root is empty.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<Vec<String>, Module>);

/// A file.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    /// What it defines.
    items: BTreeSet<String>,
    /// What it names otherwise than by where it stands: by a `use`.
    names: BTreeMap<String, Vec<String>>,
    /// The modules of which it takes all names.
    globs: Vec<Vec<String>>,
    /// The paths in it.
    paths: BTreeSet<Vec<String>>,
}

/// The imports of a file: of each other file, the names that are used.
type Imports = BTreeMap<PathBuf, BTreeSet<String>>;

/// The modules of the crate whose root is the file `root`.
///
/// # Panics
///
/// When a file cannot be read, or is not Rust.
pub fn modules(root: &Path) -> Modules {
    let mut modules = Modules::default();
    let folder = root.parent().expect("a file is in a folder");
    modules.read(root, folder, &[]);
    modules
}

impl Modules {
    /// Reads the file of the module `path`, whose modules are in `folder`, and these.
    fn read(&mut self, file: &Path, folder: &Path, path: &[String]) {
        let source = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(file, folder, path, &parsed.items);
    }

    fn add(&mut self, file: &Path, folder: &Path, path: &[String], items: &[Item]) {
        let mut module = Module { file: file.into(), ..Module::default() };
        items.iter().for_each(|item| module.visit_item(item));
        self.0.insert(path.to_vec(), module);
        for child in items.iter().filter_map(module_of) {
            let name = child.ident.to_string();
            let (path, below) = ([path, slice::from_ref(&name)].concat(), folder.join(&name));
            let files = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
            match (&child.content, files.iter().find(|file| file.is_file())) {
                (Some((_, items)), _) => self.add(file, &below, &path, items),
                (None, Some(file)) => self.read(file, &below, &path),
                // It has a path of its own: it is another package's.
                (None, None) => {}
            }
        }
    }

    /// What each file imports of the others.
    fn imports(&self) -> BTreeMap<PathBuf, Imports> {
        let mut all = BTreeMap::new();
        for (path, module) in &self.0 {
            let mut imports = Imports::new();
            for named in module.paths.iter().chain(&module.globs) {
                let Some((file, name)) = self.find(path, named, LONGEST_WAY) else { continue };
                if file != module.file {
                    imports.entry(file).or_default().insert(name);
                }
            }
            all.insert(module.file.clone(), imports);
        }
        all
    }

    /// The file that defines what the module `from` calls `named`, and its name there.
    fn find(&self, from: &[String], named: &[String], way: usize) -> Option<(PathBuf, String)> {
        let mut here = from.to_vec();
        for (n, segment) in named.iter().enumerate() {
            let module = self.0.get(&here)?;
            match segment.as_str() {
                "crate" => here.clear(),
                "self" => {}
                "super" => drop(here.pop()?),
                name if module.items.contains(name) => return Some((module.file.clone(), name.into())),
                name if self.0.contains_key(&child(&here, name)) => here.push(name.into()),
                name => return self.find_named(&here, name, &named[n + 1..], way.checked_sub(1)?),
            }
        }
        // A module by itself is told by what is taken of it.
        None
    }

    /// The same for a name that the module `here` has from elsewhere.
    fn find_named(
        &self,
        here: &[String],
        name: &str,
        rest: &[String],
        way: usize,
    ) -> Option<(PathBuf, String)> {
        let module = self.0.get(here)?;
        if let Some(target) = module.names.get(name) {
            let target = [target.as_slice(), rest].concat();
            return self.find(here, &target, way);
        }
        let last = |target: &Vec<String>| [target.as_slice(), &[name.to_owned()], rest].concat();
        module.globs.iter().find_map(|target| self.find(here, &last(target), way))
    }

    /// The rings, each as its arrows: which file imports which names of which other one of the ring.
    pub fn rings(&self) -> Vec<Vec<String>> {
        let imports = self.imports();
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            imports.keys().map(|file| (file.as_path(), reached(&imports, file))).collect();
        let mut rings: Vec<Vec<String>> = Vec::new();
        let mut told = BTreeSet::new();
        for file in reached.keys().filter(|file| reached[*file].contains(*file)) {
            let ring: BTreeSet<&Path> =
                reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect();
            if told.insert(ring.clone()) {
                rings.push(arrows(&imports, &ring));
            }
        }
        rings
    }
}

/// The files to which the imports of `from` lead.
fn reached<'a>(imports: &'a BTreeMap<PathBuf, Imports>, from: &Path) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Path> = vec![from];
    while let Some(file) = open.pop() {
        for next in imports[file].keys() {
            if found.insert(next.as_path()) {
                open.push(next);
            }
        }
    }
    found
}

fn arrows(imports: &BTreeMap<PathBuf, Imports>, ring: &BTreeSet<&Path>) -> Vec<String> {
    let mut arrows = Vec::new();
    for file in ring {
        for (other, names) in imports[*file].iter().filter(|(other, _)| ring.contains(other.as_path())) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            arrows.push(format!("{} imports {names} of {}", file.display(), other.display()));
        }
    }
    arrows
}

fn child(module: &[String], name: &str) -> Vec<String> {
    [module, &[name.to_owned()]].concat()
}

fn module_of(item: &Item) -> Option<&ItemMod> {
    match item {
        Item::Mod(module) if !is_test(&module.attrs) => Some(module),
        _ => None,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_test = |list: &MetaList| list.path.is_ident("cfg") && list.tokens.to_string() == "test";
    attributes.iter().any(|attribute| attribute.meta.require_list().is_ok_and(is_test))
}

impl Module {
    /// Notes the names that `tree` brings, below `prefix`. Those that are not handed on are used.
    fn take(&mut self, prefix: &[String], tree: &UseTree, is_handed_on: bool) {
        let (path, name) = match tree {
            UseTree::Path(path) => {
                return self.take(&child(prefix, &path.ident.to_string()), &path.tree, is_handed_on);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.take(prefix, tree, is_handed_on));
            }
            UseTree::Glob(_) => return self.globs.push(prefix.to_vec()),
            UseTree::Name(name) if name.ident == "self" => (prefix.to_vec(), prefix.last().cloned()),
            UseTree::Name(name) => (child(prefix, &name.ident.to_string()), Some(name.ident.to_string())),
            UseTree::Rename(rename) => {
                (child(prefix, &rename.ident.to_string()), Some(rename.rename.to_string()))
            }
        };
        self.names.extend(name.map(|name| (name, path.clone())));
        if !is_handed_on {
            self.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let defined = match item {
            // It is a module of its own.
            Item::Mod(_) => return,
            Item::Use(used) => {
                return self.take(&[], &used.tree, !matches!(used.vis, syn::Visibility::Inherited));
            }
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Macro(item) => item.ident.as_ref(),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        self.items.extend(defined.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        // What stands in it need not be Rust: paths are told by their colons.
        let tokens = called.tokens.to_string().replace(" :: ", "::").replace(":: ", "::");
        self.paths.extend(words(&tokens).map(|path| path.split("::").map(Into::into).collect()));
        visit::visit_macro(self, called);
    }
}

/// The names in `tokens`, and the paths of which colons tell.
fn words(tokens: &str) -> impl Iterator<Item = &str> {
    tokens.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rings of a crate whose files have these names and texts.
    fn rings(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut modules = Modules::default();
        for (file, text) in files {
            let path: Vec<String> = match *file {
                "lib.rs" => Vec::new(),
                file => file.trim_end_matches(".rs").split('/').map(Into::into).collect(),
            };
            let items = syn::parse_file(text).unwrap().items;
            modules.add(Path::new(file), Path::new("nowhere"), &path, &items);
        }
        modules.rings()
    }

    #[test]
    fn files_that_name_what_the_other_defines_are_a_ring() {
        let ring = rings(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { println!(\"{}\", super::a::N) }"),
        ]);
        // What is named in vain is nobody's.
        assert_eq!(ring, Vec::<Vec<String>>::new());
        let ring = rings(&[
            ("lib.rs", "mod a; mod b; pub use a::*; pub use b::B;"),
            ("a.rs", "use crate::B; pub const N: u8 = 0; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { println!(\"{}\", super::N) }"),
        ]);
        assert_eq!(ring, [["a.rs imports B of b.rs", "b.rs imports N of a.rs"]]);
    }

    #[test]
    fn what_is_handed_on_and_what_tests_name_is_no_import() {
        let ring = rings(&[
            ("lib.rs", "mod a; pub use a::A; pub struct Root;"),
            ("a.rs", "use crate::Root; pub struct A(Root); #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; pub struct B(A);"),
        ]);
        assert_eq!(ring, Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_module_whose_own_code_needs_its_child_and_the_reverse_are_a_ring() {
        let ring = rings(&[
            ("lib.rs", "mod a; pub use a::A; pub struct Root(A);"),
            ("a.rs", "pub struct A; impl super::Root { fn f() {} }"),
        ]);
        assert_eq!(ring, [["a.rs imports Root of lib.rs", "lib.rs imports A of a.rs"]]);
    }
}
