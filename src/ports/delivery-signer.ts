/** Signatures of deliveries: a compact token over the destination and the body, under the account's current key. */
import type { AccountId } from '../kernel/index.js';

export interface SignedCall {
  readonly account: AccountId;
  readonly url: string;
  readonly body: Uint8Array;
  /** SHA-256 of the body, base64url without padding, where it is known: of a large one it takes long. */
  readonly bodyHash?: string | undefined;
  readonly nowMs: number;
  /** The word of the spelling that the signature is sent under: `Svc`, or an alias's. */
  readonly issuer: string;
}

export interface DeliverySigner {
  /** Undefined when the account has no key here (yet): nothing is sent unsigned. */
  sign(call: SignedCall): string | undefined;
}
