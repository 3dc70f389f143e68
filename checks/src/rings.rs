//! Rings of imports: modules of one crate that need each other.
//!
//! A module is a file. It imports another if it names something that stands there: in a `use`, or by a path in its code. A name that was
//! re-exported on the way is looked up where it stands, so that a crate's front page joins nothing. Tests may name everything.
//!
//! A file that calls a method needs no import for it. If the method stands in the file of its type, another import leads there: the
//! caller has the value from a file that names the type. If the method stands in another file, it is looked up by its name, provided
//! that no second type of the crate has a method of this name. The files that give methods to one type may call each other's.
//!
//! Not seen are: a method that shares its name, one that a trait or a macro gives, and an item whose name a macro puts together or takes
//! from another macro. Which items a macro makes, its text and that of its call tell; a macro's own name must be the only one of its crate.

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
    /// The names of items that macros make in it, as far as their text tells.
    made: BTreeSet<String>,
    /// The macros that it defines, each with its text.
    macros: BTreeMap<String, String>,
    /// The macros that it calls: by which names, whether among items, and with which text.
    calls: Vec<Call>,
    /// The methods that it gives types, by the path that it calls the type: all but those of traits.
    methods: BTreeMap<String, BTreeSet<Vec<String>>>,
    /// The methods that it calls.
    called: BTreeSet<String>,
    /// What it names otherwise than by where it stands: by a `use`.
    names: BTreeMap<String, Vec<String>>,
    /// The modules of which it takes all names.
    globs: Vec<Vec<String>>,
    /// The paths in it.
    paths: BTreeSet<Vec<String>>,
}

/// A call of a macro.
#[derive(Debug)]
struct Call {
    name: String,
    makes_items: bool,
    text: String,
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
    modules.expand();
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

    /// Notes what the macros of the crate make where they are called, and name there.
    fn expand(&mut self) {
        let mut macros: BTreeMap<String, Vec<(Vec<String>, String)>> = BTreeMap::new();
        for (path, module) in &self.0 {
            for (name, text) in &module.macros {
                macros.entry(name.clone()).or_default().push((child(path, name), text.clone()));
            }
        }
        for module in self.0.values_mut() {
            for Call { name, makes_items, text } in &module.calls {
                // Which of two it is, only the order of the source would tell.
                let defined = macros.get(name).and_then(|all| <&[_; 1]>::try_from(all.as_slice()).ok());
                let body = defined.map_or("", |[(path, body)]| {
                    module.paths.insert([&["crate".into()], path.as_slice()].concat());
                    module.paths.extend(paths(body));
                    body
                });
                if *makes_items {
                    module.made.extend([text, body].into_iter().flat_map(made).map(Into::into));
                    // An item named by a parameter of the macro may have any name that stands in the call.
                    if made(body).any(|name| name.starts_with('$')) {
                        module.made.extend(words(text).map(Into::into));
                    }
                }
            }
        }
    }

    /// The file whose type alone has a method of this name, and the other file that gives it to it.
    fn method(&self, name: &str) -> Option<(PathBuf, PathBuf)> {
        let given = self.0.iter().flat_map(|(path, module)| {
            let types = module.methods.get(name).into_iter().flatten();
            types.map(move |named| (self.find(path, named, LONGEST_WAY), &module.file))
        });
        let mut given = given.map(|(defined, file)| Some((defined?.0, file.clone())));
        let (defined, file) = given.next()??;
        (given.next().is_none() && defined != file).then_some((defined, file))
    }

    /// What each file imports of the others.
    fn imports(&self) -> BTreeMap<PathBuf, Imports> {
        let mut all: BTreeMap<PathBuf, Imports> = BTreeMap::new();
        for (path, module) in &self.0 {
            // A module may stand in the file of another.
            let imports = all.entry(module.file.clone()).or_default();
            for named in module.paths.iter().chain(&module.globs) {
                let Some((file, name)) = self.find(path, named, LONGEST_WAY) else { continue };
                if file != module.file {
                    imports.entry(file).or_default().insert(name);
                }
            }
            let types = module.methods.values().flatten();
            let types = types.filter_map(|named| self.find(path, named, LONGEST_WAY));
            let given: BTreeSet<PathBuf> = types.map(|(defined, _)| defined).collect();
            for method in &module.called {
                let Some((defined, file)) = self.method(method) else { continue };
                // Files that give one type its methods may call them all: they are parts of it.
                let is_part = defined == module.file || given.contains(&defined);
                if !is_part && imports.contains_key(&defined) {
                    imports.entry(file).or_default().insert(format!("{method}()"));
                }
            }
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
        // Its own name of the crate is known everywhere.
        let is_crate = |module: &Module| module.names.get(name).is_some_and(|target| target == &["crate"]);
        if self.0.get(&[][..]).is_some_and(is_crate) {
            return self.find(&[], rest, way);
        }
        if let Some(target) = module.names.get(name) {
            let target = [target.as_slice(), rest].concat();
            return self.find(here, &target, way);
        }
        if module.made.contains(name) {
            return Some((module.file.clone(), name.into()));
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

impl Module {
    fn give(&mut self, item: &syn::ItemImpl) {
        let syn::Type::Path(named) = &*item.self_ty else { return };
        for method in item.items.iter() {
            if let syn::ImplItem::Fn(method) = method
                && method.sig.receiver().is_some()
            {
                let name = method.sig.ident.to_string();
                self.methods.entry(name).or_default().insert(segments(&named.path));
            }
        }
    }

    fn call(&mut self, called: &syn::Macro, makes_items: bool) {
        let name = called.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        self.calls.push(Call { name, makes_items, text: text(called) });
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
            Item::ExternCrate(item) if item.ident == "self" => {
                let renamed = item.rename.iter().map(|(_, name)| (name.to_string(), vec!["crate".into()]));
                return self.names.extend(renamed);
            }
            Item::Macro(item) if item.ident.is_none() => {
                self.call(&item.mac, true);
                None
            }
            Item::Impl(item) if item.trait_.is_none() => {
                self.give(item);
                None
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
        self.paths.insert(segments(path));
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.called.insert(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            self.macros.insert(name.to_string(), text(&item.mac));
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.paths.extend(paths(&text(called)));
        self.call(called, false);
        visit::visit_macro(self, called);
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The text of a macro. It need not be Rust: paths are told by their colons, parameters by their dollars.
fn text(called: &syn::Macro) -> String {
    called
        .tokens
        .to_string()
        .replace(" :: ", "::")
        .replace(":: ", "::")
        .replace("$ ", "$")
        .replace("$crate", "crate")
}

/// The names in `text`, with their dollars, and the paths of which colons tell.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':' | '$'))
        .filter(|word| !word.is_empty())
}

fn paths(text: &str) -> impl Iterator<Item = Vec<String>> {
    words(text).map(|path| path.split("::").map(Into::into).collect())
}

/// The names of items that `text` defines.
fn made(text: &str) -> impl Iterator<Item = &str> {
    const ITEMS: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];
    let names = words(text).skip(1);
    words(text)
        .zip(names)
        .filter(|(before, _)| ITEMS.contains(before))
        .map(|(_, name)| name.trim_end_matches(':'))
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
        modules.expand();
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

    /// The rings of a crate of two modules.
    fn of_two(lib: &str, a: &str, b: &str) -> Vec<String> {
        rings(&[("lib.rs", lib), ("a.rs", a), ("b.rs", b)]).concat()
    }

    #[test]
    fn items_that_a_macro_makes_are_defined_where_it_is_called() {
        let b = "pub struct B; fn f() { super::a::A; }";
        let ring = ["a.rs imports B of b.rs", "b.rs imports A of a.rs"];
        for a in [
            "use crate::b::B; bitflags! { pub struct A: u8 { const N = 1; } } fn f(_: B) {}",
            "use crate::b::B; macro_rules! make { ($n:ident) => { pub struct $n; } } make!(A); fn f(_: B) {}",
            "use crate::b::B; macro_rules! make { () => { pub enum A {} } } make! {} fn f(_: B) {}",
            "macro_rules! make { () => { pub struct A($crate::b::B); } } make!();",
        ] {
            assert_eq!(of_two("mod a; mod b;", a, b), ring, "{a}");
        }
        // An item that a macro makes inside a function belongs to that function.
        assert_eq!(of_two("", "use crate::b::B; fn f(_: B) { bitflags! { struct A: u8 {} } }", b), [""; 0]);
    }

    #[test]
    fn a_file_imports_what_the_macros_name_that_it_calls() {
        let lib = "#[macro_use] mod a; mod b; mod c;";
        let files = [
            ("lib.rs", lib),
            ("a.rs", "macro_rules! call { () => { $crate::b::f() } }"),
            ("b.rs", "pub fn f() { super::c::g() }"),
            ("c.rs", "pub fn g() { call!() }"),
        ];
        assert_eq!(
            rings(&files).concat(),
            [
                "a.rs imports f of b.rs",
                "b.rs imports g of c.rs",
                "c.rs imports call of a.rs",
                "c.rs imports f of b.rs"
            ]
        );
    }

    #[test]
    fn a_crate_is_known_by_its_own_name() {
        let ring = ["a.rs imports B of b.rs", "b.rs imports A of a.rs"];
        let a = "use own::b::B; pub struct A(B);";
        let b = "pub struct B; fn f(_: ::own::a::A) {}";
        assert_eq!(of_two("extern crate self as own; mod a; mod b;", a, b), ring);
        assert_eq!(of_two("mod a; mod b;", a, b), [""; 0], "it is another crate");
    }

    #[test]
    fn a_module_in_a_file_adds_to_what_the_file_imports() {
        let ring = ["a.rs imports B of b.rs", "b.rs imports A of a.rs"];
        let a = "use crate::b::B; pub struct A(B); mod inner {}";
        assert_eq!(of_two("", a, "pub struct B; fn f(_: crate::a::A) {}"), ring);
    }

    #[test]
    fn a_method_that_another_file_gives_is_of_that_file_but_for_the_types_own_files() {
        let files = |caller| {
            [
                ("lib.rs", "mod t; mod given; mod caller;"),
                ("t.rs", "pub struct T;"),
                ("given.rs", "use crate::{caller::C, t::T}; impl T { pub fn run(&self, _: C) {} }"),
                ("caller.rs", caller),
            ]
        };
        let caller = "use crate::t::T; pub struct C; fn f(t: T) { t.run(C) }";
        assert_eq!(
            rings(&files(caller)).concat(),
            ["caller.rs imports run() of given.rs", "given.rs imports C of caller.rs"]
        );
        for harmless in [
            "pub struct C; fn f(t: Other) { t.run() }",
            "use crate::t::T; pub struct C; impl C { fn run(&self) {} } fn f(t: T) { t.run(C) }",
            "use crate::t::T; pub struct C; impl T { fn go(&self) { self.run(C) } }",
        ] {
            assert_eq!(rings(&files(harmless)).concat(), [""; 0], "{harmless}");
        }
    }
}
