/**
 * Connections that hold so much that it is counted, and which of them is cut when there is no room for what somebody
 * has to be told.
 */
import type { ClientLink, RespClient } from './resp-client.js';

type Holder = Pick<RespClient, 'grant'> & { readonly link: Pick<ClientLink, 'unreadBytes' | 'cut'> };

const NO_MEMORY_FOR_OUTPUT = 'no-room-for-output';

export class SlowReaders {
  readonly #holders = new Set<Holder>();

  note(holder: Holder, isCounted: boolean): void {
    if (isCounted) this.#holders.add(holder);
    else this.#holders.delete(holder);
  }

  /** Cuts the one of the same database that has left most unread. @returns was there one? */
  cutSlowest(database: string): boolean {
    let slowest: Holder | undefined;
    let mostBytes = 0;
    for (const holder of this.#holders) {
      if (holder.grant?.database !== database || holder.link.unreadBytes <= mostBytes) continue;
      slowest = holder;
      mostBytes = holder.link.unreadBytes;
    }
    slowest?.link.cut(NO_MEMORY_FOR_OUTPUT);
    return slowest !== undefined;
  }
}
