/** A secret of which the clear text was left outside. */
export interface SealedSecret {
  /** SHA-256 of the clear text, 64 lower-case hex digits. */
  readonly sha256: string;
  /** The clear text under the key file's key. */
  readonly sealed: string;
}
