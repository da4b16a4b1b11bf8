/** Randomness as a decider or a handler gets it: handed in, never taken. The port of that name provides one. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** Uniform in [0, 1). */
  float(): number;
}
