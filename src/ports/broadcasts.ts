/** What is said to many listeners of this process, handed on some of it at a time; and those who wait for it. */

/** What counts as more than may wait: as long as it does, whoever says something of that tenant waits. */
export const ALL_THAT_MAY_WAIT_BYTES = 2 ** 40;

export interface BroadcastItem {
  /** Hands on while it may. @returns bytes that are left to hand on; 0: nothing, or nothing now */
  handOn(mayGoOn: () => boolean): number;
}

/** An item that waits for its turn. */
export interface BroadcastTurn {
  /** There is so much more of it. */
  more(bytes: number): void;
}

export interface Broadcasts {
  /**
   * Has the item hand on in its turn, behind those of the same tenant: soon, never at once. Not to be asked for one
   * that waits already: until it has nothing left it keeps its turn.
   */
  add(tenant: string, item: BroadcastItem, bytes: number): BroadcastTurn;
  /** Has the item hand on at once, while there is time for it in this round of the loop; the rest in its turn. */
  handOnNow(tenant: string, item: BroadcastItem): void;
  /** @returns undefined: not so much waits that whoever says more of this tenant has to */
  whenCaughtUp(tenant: string): Promise<void> | undefined;
}
