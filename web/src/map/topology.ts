/** Coastlines as the package `world-atlas` has them: arcs of whole numbers, each as its difference from the one before. */
export interface Topology {
  objects: Record<string, unknown>;
  arcs: readonly (readonly (readonly number[])[])[];
  transform?: { scale: readonly number[]; translate: readonly number[] };
}

/** A point of the Earth: longitude, then latitude, in degrees. */
export type Position = readonly [number, number];

/**
 * The coasts of a topology, each a line of points. Where land is a polygon of several arcs, each is a line of its own: they meet, so that
 * their drawing is the same, and a line between two polygons is drawn once.
 */
export function coastlines({ arcs, transform }: Topology): Position[][] {
  const [scaleX, scaleY] = transform?.scale ?? [1, 1];
  const [left, bottom] = transform?.translate ?? [0, 0];
  return arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]) => {
      // Without a transform, points are as they are.
      [x, y] = transform ? [x + dx!, y + dy!] : [dx!, dy!];
      return [x * scaleX! + left!, y * scaleY! + bottom!] as const;
    });
  });
}

/** The lines as the data of an SVG path, in which north is up. */
export function pathOf(lines: readonly (readonly Position[])[]): string {
  const text = (value: number) => String(Math.round(value * 1000) / 1000);
  return lines
    .map((line) => line.map(([x, y], at) => `${at === 0 ? "M" : "L"}${text(x)} ${text(-y)}`).join(""))
    .join("");
}
