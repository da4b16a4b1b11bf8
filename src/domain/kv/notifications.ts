/** Keyspace events: the kinds that a database publishes, and their channels. */
import type { ByteString } from '../../kernel/index.js';
import type { Audience } from './audience.js';

/**
 * g generic, $ string, l list, s set, h hash, z sorted set, t stream, a array, d module, x expired, e evicted, m missed, n new.
 */
export type NotificationKind = 'g' | '$' | 'l' | 's' | 'h' | 'z' | 't' | 'a' | 'd' | 'x' | 'e' | 'm' | 'n';

const ALL = 'g$lshztaxed';
const KNOWN = /^[KEg$lshztadxemnA]*$/;
/** In the order in which Redis prints them. */
const PRINTED = 'g$lshzxetadn';

/** The flags in Redis's form; undefined when one is unknown. */
export function readNotificationFlags(text: ByteString): ByteString | undefined {
  if (!KNOWN.test(text)) return undefined;
  const flags = new Set(text.replaceAll('A', ALL));
  const isAll = [...ALL].every((flag) => flags.has(flag));
  let printed = isAll ? 'A' : '';
  for (const flag of PRINTED) if (flags.has(flag) && !(isAll && ALL.includes(flag))) printed += flag;
  for (const flag of 'KEm') if (flags.has(flag)) printed += flag;
  return printed;
}

export class Notifications {
  #flags = '';
  #isKeyspace = false;
  #isKeyevent = false;

  constructor(private readonly audience: Audience) {}

  /** @param flags as returned by `readNotificationFlags` */
  set flags(flags: ByteString) {
    this.#flags = flags.replaceAll('A', ALL);
    this.#isKeyspace = flags.includes('K');
    this.#isKeyevent = flags.includes('E');
    if (!this.#isKeyspace && !this.#isKeyevent) this.#flags = '';
  }

  get isOff(): boolean {
    return this.#flags === '';
  }

  notify(kind: NotificationKind, event: string, key: ByteString): void {
    if (this.#flags === '' || !this.#flags.includes(kind)) return;
    if (this.#isKeyspace) this.audience.publish(`__keyspace@0__:${key}`, event, false);
    if (this.#isKeyevent) this.audience.publish(`__keyevent@0__:${event}`, key, false);
  }
}
