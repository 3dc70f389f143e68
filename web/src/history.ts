import { LONGEST_PAGE, type Page, type Point } from "./api";

/** The most readings of one stream that the page holds. */
export const MOST_POINTS = 200_000;

/**
 * The points from `from` on, oldest first, fetched page by page from the newest back; at most `most` of them, the
 * newest. A page has at most `longest`. `progress` hears how many there are so far; when it answers false, the rest is not fetched.
 */
export async function history(
  fetchPage: (page: Page) => Promise<Point[]>,
  from: number,
  most = MOST_POINTS,
  progress: (points: number) => boolean = () => true,
  longest = LONGEST_PAGE,
): Promise<Point[]> {
  const pages: Point[][] = [];
  let count = 0;
  let until: number | undefined;
  /** How many points of the millisecond `until - 1` are here already: pages overlap in it. */
  let doubled = 0;
  while (count < most) {
    const limit = Math.min(longest, most - count + doubled);
    const page = await fetchPage(until === undefined ? { limit } : { limit, until });
    const fresh = page.slice(0, page.length - doubled);
    const wanted = fresh.filter((point) => point.time >= from);
    pages.unshift(wanted);
    count += wanted.length;
    const oldest = page[0];
    if (!oldest || page.length < limit || wanted.length < fresh.length || !progress(count)) break;
    if (fresh.length === 0) {
      // A whole page within one millisecond: what else it holds cannot be told apart.
      until = oldest.time;
      doubled = 0;
      continue;
    }
    const before: number = doubled > 0 && oldest.time === until! - 1 ? doubled : 0;
    doubled = before + fresh.filter((point) => point.time === oldest.time).length;
    until = oldest.time + 1;
  }
  return pages.flat();
}
