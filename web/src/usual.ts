import { api, type Resource, type Stream } from "./api";

/** How many of a stream's latest readings tell its usual interval. */
const RECENT = 20;
/** How many streams are asked, one after the other. */
const MOST_STREAMS = 4;
/** The most steps that are looked at. */
const SAMPLE = 1_000;

/**
 * The usual time between two of the rising `times`: the median of the steps. Readings of the same moment count once.
 * Fewer than three steps show no habit.
 */
export function usualStep(times: readonly number[]): number | undefined {
  const steps = times.length - 1;
  const stride = Math.max(1, Math.ceil(steps / SAMPLE));
  const sample: number[] = [];
  for (let index = 0; index < steps; index += stride) {
    const step = times[index + 1]! - times[index]!;
    if (step > 0) sample.push(step);
  }
  if (sample.length < 3) return undefined;
  return sample.sort((a, b) => a - b)[Math.floor((sample.length - 1) / 2)]!;
}

/** The streams that have readings, that which had one last first. */
export function byArrival(streams: readonly Stream[]): Stream[] {
  return streams.filter(({ latest }) => latest).sort((a, b) => b.latest!.arrived - a.latest!.arrived);
}

/** The device's usual time between readings in seconds, if one of its streams has enough to show it. */
export async function usualInterval(
  user: string,
  resource: Resource["id"],
  streams: readonly Stream[],
): Promise<number | undefined> {
  for (const stream of byArrival(streams).slice(0, MOST_STREAMS)) {
    const points = await api.data(user, resource, stream.id, { limit: RECENT });
    const step = usualStep(points.map(({ time }) => time / 1000));
    if (step !== undefined) return step;
  }
  return undefined;
}
