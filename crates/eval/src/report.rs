//! The report: a page for each paper, one for our own experiments, and one that leads to them, with the values of each figure as CSV.
//! They need nothing but each other.

mod csv;
mod document;
mod figure;
mod figure_id;
mod index;
mod page;
mod summary;

use self::page::Page;
pub use self::summary::Summary;
use crate::evaluation::Evaluation;

/// The file of the report in which readers enter what they have measured.
pub const MEASUREMENTS_FILE: &str = "measured.csv";

/// A file of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The files that show `evaluations`. The first is `index.html`, which leads to the others.
pub fn report(evaluations: &[Evaluation]) -> Vec<ReportFile> {
    let pages = page::pages(evaluations);
    let mut files = vec![ReportFile { name: "index.html".into(), text: index::html(&pages) }];
    files.extend(pages.iter().map(|page| ReportFile { name: page.file(), text: page.html() }));
    let values = pages
        .iter()
        .flat_map(Page::figures)
        .map(|(place, figure)| ReportFile { name: csv::file(&place), text: csv::text(figure) });
    files.extend(values);
    let measurements = csv::measurements(pages.iter().flat_map(Page::figures));
    files.push(ReportFile { name: MEASUREMENTS_FILE.into(), text: measurements });
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Claim;
    use crate::figure::{Figure, Provenance, Row};
    use crate::published::{Published, Read};
    use crate::series::Series;
    use crate::setup::Parameters;
    use crate::statement::Statement;
    use crate::verdict::Verdict;

    fn evaluation(experiment: &'static str, is_own: bool) -> Evaluation {
        let published = Some(Published { value: 3.0, read: Read::Prose });
        let row = |x| Row::new("ESP, \"all\"", 2.5, "ms", Provenance::Measured).at(x).beside(published);
        let figure =
            Figure { title: "Time", across: Some("payload, bytes"), rows: vec![row(16.0), row(64.0)] };
        let parameters = Parameters {
            platform: "Tmote Sky",
            mac: "NullMAC",
            routing: "static",
            network: "a chain",
            seeds: "1 to 2".into(),
            runs: 2,
            commit: "0123abc".into(),
        };
        let claim = |text: &str, verdict, why: &str| Claim {
            text: text.into(),
            verdict,
            counted: true,
            tolerance: None,
            why: why.into(),
            statement: Statement::SomeOf(Series::new("Time", "ESP")),
        };
        let uncounted = Claim { counted: false, ..claim("uncounted", Verdict::Holds, "arithmetic") };
        Evaluation {
            schema: 1,
            experiment,
            source: "A paper, figure 1".into(),
            paper: "A paper".into(),
            relative_error: None,
            at: "figure 1",
            shows: "times",
            missing: &[],
            is_own,
            reproduced: true,
            parameters,
            figures: vec![figure],
            claims: vec![
                claim("<b> holds", Verdict::Holds, "so"),
                claim("fails", Verdict::DoesNotHold, "not so"),
                claim("open", Verdict::NotDecided, "few runs"),
                uncounted,
            ],
            unchecked: vec![crate::Unchecked {
                experiment: experiment.into(),
                section: "6.7".into(),
                says: "It is <fine>".into(),
                why: "no value".into(),
            }],
        }
    }

    fn file<'f>(files: &'f [ReportFile], name: &str) -> &'f str {
        &files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name}")).text
    }

    #[test]
    fn each_paper_has_a_page_our_own_have_one_and_the_index_leads_to_all() {
        let all = [
            evaluation("a2008-fig1", false),
            evaluation("a2008-fig2", false),
            evaluation("b2012-table1", false),
            evaluation("loss", true),
        ];
        let files = report(&all);
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "index.html",
                "a2008.html",
                "b2012.html",
                "own.html",
                "a2008-fig1-1.csv",
                "a2008-fig2-1.csv",
                "b2012-table1-1.csv",
                "loss-1.csv",
                "measured.csv",
            ]
        );
        let index = file(&files, "index.html");
        for name in ["a2008", "b2012", "own"] {
            assert!(index.contains(&format!("href=\"{name}.html\"")), "{index}");
        }
    }

    #[test]
    fn a_page_has_contents_a_summary_parameters_and_values_of_each_figure() {
        let files = report(&[evaluation("a2008-fig1", false)]);
        let page = file(&files, "a2008.html");
        for wanted in [
            "href=\"#a2008-fig1\"",
            "id=\"a2008-fig1\"",
            "1 holds, 1 does not hold, 1 is not decided, 1 is not counted; 1 sentence of the papers is not checked",
            "– not checked:</span> It is &lt;fine&gt; (section 6.7)<p class=\"pale\">no value</p>",
            "? not decided:",
            "Tmote Sky",
            "NullMAC",
            "1 to 2",
            "0123abc",
            "href=\"a2008-fig1-1.csv\"",
            "&lt;b&gt; holds",
            "href=\"index.html\"",
            "<svg ",
        ] {
            assert!(page.contains(wanted), "{wanted}: {page}");
        }
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"), "{page}");
    }

    #[test]
    fn a_figure_says_what_its_own_rows_were_made_with() {
        let mut evaluation = evaluation("a2008-fig1", false);
        let rows = &mut evaluation.figures[0].rows;
        rows[0] = rows[0].clone().by("CSMA-CA").on("native nodes");
        let files = report(core::slice::from_ref(&evaluation));
        let page = file(&files, "a2008.html");
        assert!(
            page.contains("<dd>CSMA-CA; NullMAC</dd>") && page.contains("<dd>native nodes; Tmote Sky</dd>")
        );
        evaluation.figures[0].rows.truncate(1);
        let files = report(&[evaluation]);
        let page = file(&files, "a2008.html");
        assert!(page.contains("<dd>CSMA-CA</dd>") && !page.contains("NullMAC"), "{page}");
    }

    #[test]
    fn values_are_a_table_whose_labels_may_have_commas_and_quotes() {
        let files = report(&[evaluation("a2008-fig1", false)]);
        let csv = file(&files, "a2008-fig1-1.csv");
        let lines: Vec<_> = csv.split("\r\n").collect();
        assert_eq!(
            lines,
            [
                "label,\"payload, bytes\",value,sd,interval low,interval high,unit,published,read,your measurement,provenance",
                "\"ESP, \"\"all\"\"\",16,2.5,,,,ms,3,prose,,measured",
                "\"ESP, \"\"all\"\"\",64,2.5,,,,ms,3,prose,,measured",
                "",
            ]
        );
    }

    #[test]
    fn readers_enter_what_they_have_measured_in_a_file_with_all_names() {
        let mut evaluations = [evaluation("raza2012-fig9", false)];
        let empty = report(&evaluations);
        let empty = file(&empty, "measured.csv");
        assert_eq!(empty.lines().nth(1), Some("raza2012-fig9,Time,\"ESP, \"\"all\"\"\",16,,ms"));
        let filled = empty.replace(",64,,ms", ",64,7.5,ms");
        crate::Measurements::read(filled.as_bytes()).unwrap().enter(&mut evaluations[0]).unwrap();
        let files = report(&evaluations);
        assert_eq!(file(&files, "measured.csv"), filled);
        assert!(file(&files, "raza2012-fig9-1.csv").contains(",64,2.5,,,,ms,3,prose,7.5,measured"));
        let page = file(&files, "raza2012.html");
        assert!(
            page.contains("<th class=\"n\">your measurement<th>unit")
                && page.contains("<td class=\"n\">7.5<td>ms")
        );
        assert!(page.contains(">your measurement, in the colour of its series<"), "a key of the plot");
    }
}
