/** Encrypts secrets that must be shown again, so that a reader of the journal needs the key file. */
export interface Sealing {
  /** A different text each time, also for the same secret. */
  seal(text: string): string;
  /** @throws BAD_CONFIG when it was sealed with another key; INVALID when it is not an output of `seal` */
  open(sealed: string): string;
}
