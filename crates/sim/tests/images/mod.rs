//! Images where tests find them.

use std::path::Path;

use sixlock_sim::{EmulatedNode, Scenario, ScenarioBuilder, built_image};

/// The scenario that `text` describes, with the images where tests find them.
pub(crate) fn with_images(text: &str) -> Scenario {
    let scenario = Scenario::parse("line", text).unwrap_or_else(|error| panic!("{error}"));
    let nodes = scenario.emulated().clone();
    let builder = nodes.into_iter().fold(ScenarioBuilder::from(scenario.clone()), |builder, (id, node)| {
        // Tests run in the package's folder, images are built in the workspace's.
        let built = built_image(&node.platform, &scenario, id).unwrap();
        let image = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(built));
        builder.emulated(id, EmulatedNode { image, ..node })
    });
    builder.build().unwrap()
}
