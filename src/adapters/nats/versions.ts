/** The abilities of a nats-server, by its version. The version of the client is no evidence for them. */

/** The first version with a correct compare-and-set on a subject with several replicas. */
export const SOUND_REPLICATED_SUBJECT_CAS = '2.9.21';
/** The first version with `sync_interval: always`. */
export const SYNC_ALWAYS = '2.10.0';
/** The first version in which a leader that steps down can name its successor. */
export const PREFERRED_LEADERS = '2.11.0';

/** Whether `version` is `minimum` or newer; a pre-release (`2.10.0-RC.1`) counts as older than its release. */
export function isAtLeast(version: string, minimum: string): boolean {
  const have = parse(version);
  const want = parse(minimum);
  for (let i = 0; i < 3; i += 1) {
    const difference = (have.numbers[i] ?? 0) - (want.numbers[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return !have.isPreRelease || want.isPreRelease;
}

function parse(version: string): { numbers: number[]; isPreRelease: boolean } {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(-.+)?$/.exec(version.trim());
  if (match === null) return { numbers: [0, 0, 0], isPreRelease: false };
  return { numbers: [Number(match[1]), Number(match[2]), Number(match[3])], isPreRelease: match[4] !== undefined };
}
