/** Keeps secrets that must be shown again unreadable to whoever reads the journal without the key. */
export interface Sealing {
  /** Another text each time, also for the same secret. */
  seal(text: string): string;
  /** @throws BAD_CONFIG when it was sealed with another key; INVALID when it is not what `seal` gave */
  open(sealed: string): string;
}
