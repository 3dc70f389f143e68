import type { LivePoint, Point, Stream } from "./api";
import type { FeedSource } from "./feed";
import { sharedApi } from "./shared-api";
import { isValue } from "./value";

/** The live feed of a shared stream. Its events say neither where in the cloud a point stands nor when it arrived. */
export function sharedSource(id: Stream["id"], token: string | undefined): FeedSource {
  return {
    open: (_, signal) => sharedApi.live(id, signal, token),
    parse: (data) => parseShared(data, id),
  };
}

/** Reads the data of a `point` event of a shared stream; whatever is not a point is passed over. */
export function parseShared(data: string, id: Stream["id"]): LivePoint | undefined {
  try {
    const { time, value } = JSON.parse(data) as Point;
    if (!Number.isFinite(time) || !isValue(value)) return undefined;
    return { resource: "", stream: id, time, value, arrived: time };
  } catch {
    return undefined;
  }
}
