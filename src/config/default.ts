/** The forms of a default: a value, none, one derived from the process's surroundings, one made at the first start. */

/** Facts that some defaults depend on; known before them. */
export interface Surroundings {
  readonly host: string;
  readonly dataDir: string;
  /** Without MILLRACE_NATS_URL the process runs its own nats-server. */
  readonly isEmbedded: boolean;
  /** The number of workers. */
  readonly sharedBy: number;
  /** The variable that makes the process reachable from other machines; undefined: none. */
  readonly exposedBy: string | undefined;
}

export interface Default {
  /** Undefined: not set, which has a meaning for the setting. */
  valueFor(surroundings: Surroundings): unknown;
  readonly reason: string;
  /** Shown instead of the value, for a derived default or a secret from the first start. */
  readonly shown?: string;
  /** The reason for a derived value, if not obvious. */
  because?(surroundings: Surroundings): string | undefined;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

export function as(value: unknown, reason: string): Default {
  return { valueFor: () => value, reason };
}

export function unset(reason: string, shown = 'not set'): Default {
  return { valueFor: () => undefined, reason, shown };
}

export function derived(shown: string, valueFor: (surroundings: Surroundings) => unknown, reason: string): Default {
  return { valueFor, reason, shown };
}

export function generated(reason: string): Default {
  return unset(`${reason} Used at the first start; another value later is a warning.`, 'generated');
}
