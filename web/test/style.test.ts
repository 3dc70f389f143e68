import { expect, test } from "vitest";
import style from "../src/style.css?raw";

test("the style shows each name with the letters that it has", () => {
  expect(style).toContain(".chart h4 {");
  expect(style).not.toMatch(/text-transform|first-letter|small-caps|all-petite-caps/);
});
