import { ApiError } from "../api";
import type { Chosen, Fleet, Page, Selection } from "../fleet-api";

/** The most devices that a change names one by one. */
const MOST_NAMED = 5_000;
/** The most devices of one answer. */
const MOST_AT_ONCE = 1_000;

/** The devices that a change is to concern, as they were when a person chose them, and how many they are. */
export interface Choice {
  readonly chosen: Chosen;
  readonly number: number;
}

/**
 * All devices that `selection` finds, of which a person was shown that they are `number`. They are named one by one, so that one
 * that comes in another's place meanwhile is not among them; more than can be named are those that are found so.
 */
export async function allFound(
  look: (selection: Selection, page: Page) => Promise<Pick<Fleet, "devices">>,
  selection: Selection,
  number: number,
): Promise<Choice> {
  if (number > MOST_NAMED) return { chosen: { matching: selection }, number };
  const devices = new Set<Fleet["devices"][number]["id"]>();
  // By their ids, an order in which none changes its place. One more than are wanted is enough to know that there are others.
  for (let offset = 0, more = true; more && devices.size <= number; offset += MOST_AT_ONCE) {
    const page = await look(selection, { order: "added", offset, limit: MOST_AT_ONCE });
    for (const { id } of page.devices) devices.add(id);
    more = page.devices.length === MOST_AT_ONCE;
  }
  if (devices.size !== number)
    throw new ApiError(409, "Other devices are found now than were shown. Look at them, and choose again.");
  return { chosen: { devices: [...devices] }, number };
}
