/** Signatures of webhooks after the Standard Webhooks specification. */
import type { EndpointSecret, HeaderList } from '../domain/queue/index.js';
import type { AccountId } from '../kernel/index.js';

export interface SignedWebhook {
  /** The `webhook-id`. */
  readonly id: string;
  /** The time of the attempt. */
  readonly nowMs: number;
  readonly body: Uint8Array;
  /** All that sign; each adds a signature. */
  readonly secrets: readonly EndpointSecret[];
}

/** A secret as its holder sees it. */
export interface SecretView {
  readonly version: EndpointSecret['version'];
  /** `whsec_…`, which both sides know; of Ed25519 the public key, `whpk_…`. */
  readonly key: string;
}

export interface WebhookSigner {
  /** The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. @throws BAD_CONFIG as `Sealing.open` */
  headersFor(webhook: SignedWebhook): HeaderList;
}

export interface WebhookSecrets {
  /** A sealed secret of random bytes. */
  made(version: EndpointSecret['version']): Pick<EndpointSecret, 'version' | 'sealed'>;
  /** A sealed secret that the caller chose. @throws INVALID for another form than `whsec_` with 24 to 64 bytes of base64 */
  given(text: string): Pick<EndpointSecret, 'version' | 'sealed'>;
  /** @throws BAD_CONFIG as `Sealing.open` */
  shown(secret: Pick<EndpointSecret, 'version' | 'sealed'>): SecretView;
}

/** Signatures of deliveries: a compact token over the destination and the body, with the account's current key. */
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
