//! README.md and the guides in docs/guide/: their commands are run one after another, each guide in a folder and a network namespace of its own, and
//! print what stands there. With `SIXLOCK_ACCEPT=1`, what differs is written into the guide.

#[path = "../support/namespace.rs"]
mod namespace;
mod shell;
mod transcript;

use std::path::{Path, PathBuf};
use std::time::Instant;

use shell::Shell;

/// The folder of the workspace.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Runs the commands of a guide.
fn follow(test: &str, guide: &str) {
    if !namespace::inside(test) {
        return;
    }
    let path = Path::new(WORKSPACE).join(guide);
    let text = std::fs::read_to_string(&path).expect("the guide is there");
    let steps = transcript::steps(&text);
    assert!(!steps.is_empty(), "{guide} has no command");
    let started = Instant::now();
    let mut shell = Shell::start(test);
    let (mut differences, mut seen) = (Vec::new(), String::new());
    for step in &steps {
        let begun = Instant::now();
        let printed = shell.run(step);
        let is_as_shown = step.matches(&printed);
        println!(
            "{guide}: {:.1} s: {}",
            begun.elapsed().as_secs_f64(),
            step.command.lines().next().unwrap_or_default()
        );
        if let Some(line) = printed.lines().rfind(|line| !line.trim().is_empty()) {
            line.clone_into(&mut seen);
        }
        if !is_as_shown {
            differences.push((step, printed));
        }
    }
    println!("{guide}: {} commands in {:.0} s", steps.len(), started.elapsed().as_secs_f64());
    if std::env::var_os("SIXLOCK_ACCEPT").is_some() && !differences.is_empty() {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        for (step, printed) in differences.iter().rev() {
            lines.splice(step.lines.clone(), printed.lines().map(str::to_owned));
        }
        std::fs::write(&path, lines.join("\n") + "\n").expect("the guide can be written");
        return;
    }
    let differences: Vec<_> = differences
        .iter()
        .map(|(step, printed)| {
            let line = step.lines.start + 1;
            format!(
                "{guide}:{line}: {}\nshown:\n{}\nprinted:\n{printed}\n",
                step.command,
                step.output.join("\n")
            )
        })
        .collect();
    assert!(
        differences.is_empty(),
        "SIXLOCK_ACCEPT=1 writes what is printed into the guide\n{}",
        differences.join("\n")
    );
    // `./bench guides` makes its table of these lines.
    let seconds = started.elapsed().as_secs();
    println!(
        "followed {guide}\t{}\t{seconds}\t{}",
        steps.len(),
        seen.trim().chars().take(80).collect::<String>()
    );
}

macro_rules! guides {
    ($($(#[$attribute:meta])* $test:ident $guide:literal,)*) => {
        const GUIDES: &[&str] = &[$($guide),*];

        $(
            #[test]
            $(#[$attribute])*
            fn $test() {
                follow(stringify!($test), $guide);
            }
        )*
    };
}

guides! {
    readme "README.md",
    add_dtls "docs/guide/add-dtls.md",
    choose "docs/guide/choose.md",
    compare_modes "docs/guide/compare-modes.md",
    form_a_network "docs/guide/form-a-network.md",
    hear_of_silence "docs/guide/hear-of-silence.md",
    look_at_frames "docs/guide/look-at-frames.md",
    post_a_reading "docs/guide/post-a-reading.md",
    publish_by_mqtt "docs/guide/publish-by-mqtt.md",
    reach_a_node "docs/guide/reach-a-node.md",
    repeat_an_experiment "docs/guide/repeat-an-experiment.md",
    run_a_border_router "docs/guide/run-a-border-router.md",
    run_a_cloud "docs/guide/run-a-cloud.md",
    #[ignore = "needs emulators, and images that scripts/firmware.sh builds"]
    run_an_image "docs/guide/run-an-image.md",
    watch_a_network "docs/guide/watch-a-network.md",
}

#[test]
fn each_guide_is_run() {
    let folder = Path::new(WORKSPACE).join("docs/guide");
    let files = std::fs::read_dir(folder).expect("there are guides");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("it can be listed").path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().expect("it has a name").to_string_lossy().into_owned();
        assert!(GUIDES.contains(&format!("docs/guide/{name}").as_str()), "no test runs docs/guide/{name}");
    }
}
