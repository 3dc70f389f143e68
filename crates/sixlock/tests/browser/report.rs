//! The report of `sixlock eval`, on a laptop and on a telephone.

use std::path::Path;
use std::process::Command;

use crate::check_page;
use crate::webdriver::Browser;

const LAPTOP: (u32, u32) = (1280, 800);
const TELEPHONE: (u32, u32) = (375, 812);
/// Experiments without a network, of several papers: they are made at once.
const EXPERIMENTS: [&str; 6] = [
    "raza2012-table2",
    "raza2012-fig9",
    "granjal2008-table3",
    "derubertis2013-fig6",
    "securesense-fig14",
    "granjal2008-table2",
];

/// Opens a page of the report, in the size of the window.
fn open(browser: &Browser, folder: &Path, page: &str) {
    browser.open(&format!("file://{}", folder.join(page).display()));
}

/// The pages that the index leads to.
fn pages(browser: &Browser) -> Vec<String> {
    let links =
        browser.run("return [...document.querySelectorAll('td a')].map((link) => link.getAttribute('href'))");
    let links = links.as_array().expect("a list").iter();
    links.map(|link| link.as_str().expect("a page").to_owned()).collect()
}

/// Each plot has an entry in its legend for each series, and no two series of it look the same.
fn check_plots(browser: &Browser) -> u64 {
    let plots = browser.run(
        "return [...document.querySelectorAll('svg')].map((plot) => [
            plot.querySelectorAll('.series').length,
            plot.querySelectorAll('.legend').length,
            new Set([...plot.querySelectorAll('.series')].map(({ dataset }) =>
                dataset.colour + ' ' + dataset.dashes)).size,
        ])",
    );
    let plots = plots.as_array().expect("a list");
    for plot in plots {
        assert!(plot[0].as_u64() > Some(0) && plot[0] == plot[1] && plot[0] == plot[2], "{plot}");
    }
    plots.len() as u64
}

/// Texts of plots are not smaller than this, in pixels.
const SMALLEST: f64 = 9.0;

fn check_texts(browser: &Browser) {
    let smallest = browser.run(
        "return Math.min(...[...document.querySelectorAll('svg')].map((plot) =>
            14 * plot.getBoundingClientRect().width / plot.viewBox.baseVal.width))",
    );
    assert!(smallest.as_f64().expect("a size") >= SMALLEST, "{smallest}");
}

#[test]
#[ignore = "drives Chromium; ./test runs it"]
fn the_report_fits_a_laptop_and_a_telephone_and_its_series_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let report = Command::new(env!("CARGO_BIN_EXE_sixlock"))
        .arg("eval")
        .args(EXPERIMENTS)
        .args(["--runs", "2", "--report"])
        .arg(folder)
        .output()
        .expect("the program runs");
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));

    let browser = Browser::start();
    for size in [LAPTOP, TELEPHONE] {
        browser.resize(size);
        open(&browser, folder, "index.html");
        check_page(&browser);
        let pages = pages(&browser);
        assert_eq!(pages.len(), 4, "{pages:?}");
        let mut plots = 0;
        for page in pages {
            open(&browser, folder, &page);
            browser.run("document.querySelectorAll('details').forEach((details) => (details.open = true))");
            check_page(&browser);
            plots += check_plots(&browser);
            check_texts(&browser);
            let missing = browser.run(
                "return [...document.querySelectorAll('figure')].filter((figure) =>
                    !figure.querySelector('a[download]') || !figure.querySelector('.parameters')).length",
            );
            assert_eq!(missing, 0, "{page}");
        }
        assert!(plots >= 10, "{plots}");
    }
    if let Some(pictures) = std::env::var_os("SIXLOCK_REPORT_PICTURES") {
        take_pictures(&browser, folder, Path::new(&pictures));
    }
}

fn take_pictures(browser: &Browser, folder: &Path, pictures: &Path) {
    for (name, size) in [("laptop", LAPTOP), ("telephone", TELEPHONE)] {
        browser.resize(size);
        for page in ["index", "raza2012"] {
            open(browser, folder, &format!("{page}.html"));
            browser.picture(&pictures.join(format!("{page}-{name}.png")), true);
        }
    }
}
