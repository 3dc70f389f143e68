import { expect, test } from "vitest";
import settings from "../src/settings.css?raw";
import style from "../src/style.css?raw";

test("the style shows each name with the letters that it has", () => {
  expect(style).toContain(".chart :is(h3, h4) {");
  expect(settings).toContain(".records");
  expect(style + settings).not.toMatch(/text-transform|first-letter|small-caps|all-petite-caps/);
});
