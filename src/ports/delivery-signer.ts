/** Signatures of deliveries: a compact token over the destination and the body, with the account's current key. */
import type { AccountId } from '../kernel/index.js';

export interface SignedCall {
  readonly account: AccountId;
  readonly url: string;
  readonly body: Uint8Array;
  /** SHA-256 of the body, base64url without padding, if it was computed already; hashing a large body takes long. */
  readonly bodyHash?: string | undefined;
  readonly nowMs: number;
  /** The issuer for the header spelling: `Svc`, or an alias's. */
  readonly issuer: string;
}

export interface DeliverySigner {
  /** Undefined when the account has no key here yet; calls are never sent unsigned. */
  sign(call: SignedCall): string | undefined;
}
