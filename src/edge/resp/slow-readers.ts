/** Connections with counted bytes, from which the slowest reader is cut when there is no room for a message. */
import type { ClientLink, ClientState } from './client-state.js';

type Holder = Pick<ClientState, 'grant'> & { readonly link: Pick<ClientLink, 'unreadBytes' | 'cut'> };

const NO_MEMORY_FOR_OUTPUT = 'no-room-for-output';

export class SlowReaders {
  readonly #holders = new Set<Holder>();

  note(holder: Holder, isCounted: boolean): void {
    if (isCounted) this.#holders.add(holder);
    else this.#holders.delete(holder);
  }

  /** Cuts the connection of the database with the most unread bytes. @returns whether there was one */
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
