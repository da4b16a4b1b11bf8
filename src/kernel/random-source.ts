/** Randomness as passed to deciders and handlers, which never create their own. The port of that name provides one. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** Uniform in [0, 1). */
  float(): number;
}
