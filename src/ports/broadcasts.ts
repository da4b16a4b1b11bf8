/**
 * Events for many listeners of this process, delivered a few at a time, and publishers that wait for their delivery.
 */

/** A number above the bound of waiting bytes: while it is reported, publishers of that tenant wait. */
export const ALL_THAT_MAY_WAIT_BYTES = 2 ** 40;

export interface BroadcastItem {
  /** Delivers while it may. @returns the bytes left to deliver; 0: none, or none now */
  handOn(mayGoOn: () => boolean): number;
}

/** An item that waits for its turn. */
export interface BroadcastTurn {
  /** That many more bytes wait. */
  more(bytes: number): void;
}

export interface Broadcasts {
  /**
   * Delivers the item in its turn, after others of the same tenant: soon, never immediately. Must not be called for a
   * waiting item, which keeps its turn until it has no bytes left.
   */
  add(tenant: string, item: BroadcastItem, bytes: number): BroadcastTurn;
  /** Delivers immediately while there is time in this round of the event loop; the rest in its turn. */
  handOnNow(tenant: string, item: BroadcastItem): void;
  /** @returns undefined when publishers of this tenant need not wait */
  whenCaughtUp(tenant: string): Promise<void> | undefined;
}
