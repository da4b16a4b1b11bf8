/** The abilities of a nats-server, by its version. The version of the client is no evidence for them. */

/** The first version with a correct compare-and-set on a subject with several replicas. */
export const SOUND_REPLICATED_SUBJECT_CAS = '2.9.21';
/** The first version with `sync_interval: always`. */
export const SYNC_ALWAYS = '2.10.0';
/** The first version in which a leader that steps down can name its successor. */
export const PREFERRED_LEADERS = '2.11.0';

/** Negative when `a` is older than `b`. A pre-release (`2.10.0-RC.1`) counts as older than its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (const index of [0, 1, 2] as const) {
    const difference = left[index] - right[index];
    if (difference !== 0) return difference;
  }
  return Number(b.includes('-')) - Number(a.includes('-'));
}

export function isAtLeast(version: string, minimum: string): boolean {
  return compareVersions(version, minimum) >= 0;
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor, patch];
}
