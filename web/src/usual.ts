import { api, type Resource, type Stream } from "./api";

/** How many of a stream's latest readings tell its usual interval. */
const RECENT = 20;
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

/** The stream that had a reading last. */
export function newest(streams: readonly Stream[]): Stream | undefined {
  const arrived = ({ latest }: Stream) => latest?.arrived ?? -Infinity;
  const last = streams.reduce<Stream | undefined>(
    (last, stream) => (last && arrived(last) >= arrived(stream) ? last : stream),
    undefined,
  );
  return last?.latest ? last : undefined;
}

/** The device's usual time between readings in seconds, if it has sent enough to show one. */
export async function usualInterval(
  user: string,
  resource: Resource["id"],
  streams: readonly Stream[],
): Promise<number | undefined> {
  const stream = newest(streams);
  if (!stream) return undefined;
  const points = await api.data(user, resource, stream.id, { limit: RECENT });
  return usualStep(points.map(({ time }) => time / 1000));
}
