/**
 * Signs webhooks as the Standard Webhooks specification has it: the signed text is id, timestamp in seconds and body,
 * with dots between them. `v1` is HMAC-SHA256 with the bytes of a `whsec_` secret, `v1a` is Ed25519 with the key of
 * which receivers have the public part, `whpk_`.
 */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { BoundedCache, getOrCreate, MillraceError } from '../../kernel/index.js';
import type { Random, Sealing, SecretView, SignedWebhook, WebhookSecrets, WebhookSigner } from '../../ports/index.js';

const SECRET = 'whsec_';
const PUBLIC_KEY = 'whpk_';
/** Bytes of a new secret; the specification asks for 24 to 64. */
const SECRET_BYTES = 32;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A private key of Ed25519 in PKCS #8 is this and the 32 bytes of its seed (RFC 8410). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;
/** Opened secrets; above this number the oldest is dropped. */
const MAX_OPENED = 10_000;

type SealedSecret = Parameters<WebhookSecrets['shown']>[0];

interface Opened {
  readonly shown: SecretView;
  signatureOf(content: Uint8Array): string;
}

export interface StandardWebhooksPorts {
  readonly random: Random;
  /** Opens the key file; called when a secret is needed. */
  readonly sealing: () => Sealing;
}

export class StandardWebhooks implements WebhookSigner, WebhookSecrets {
  readonly #opened = new BoundedCache<string, Opened>(MAX_OPENED);

  constructor(private readonly ports: StandardWebhooksPorts) {}

  headersFor({ id, nowMs, body, secrets }: SignedWebhook): ReturnType<WebhookSigner['headersFor']> {
    const timestamp = String(Math.floor(nowMs / 1000));
    const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const signatures = secrets.map((secret) => `${secret.version},${this.#open(secret).signatureOf(content)}`);
    return [
      ['Webhook-Id', id],
      ['Webhook-Timestamp', timestamp],
      ['Webhook-Signature', signatures.join(' ')],
    ];
  }

  made(version: SecretView['version']): SealedSecret {
    const bytes = Buffer.from(this.ports.random.bytes(version === 'v1' ? SECRET_BYTES : SEED_BYTES));
    return this.#sealed(version, bytes);
  }

  given(text: string): SealedSecret {
    const base64 = text.startsWith(SECRET) ? text.slice(SECRET.length) : '';
    const bytes = Buffer.from(base64, 'base64');
    if (!BASE64.test(base64) || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
      const form = `${SECRET} and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes`;
      throw new MillraceError('INVALID', `secret: must be ${form}`, {});
    }
    return this.#sealed('v1', bytes);
  }

  shown(secret: SealedSecret): SecretView {
    return this.#open(secret).shown;
  }

  #sealed(version: SecretView['version'], bytes: Buffer): SealedSecret {
    return { version, sealed: this.ports.sealing().seal(bytes.toString('base64')) };
  }

  #open({ version, sealed }: SealedSecret): Opened {
    return getOrCreate(this.#opened, sealed, () => {
      const bytes = Buffer.from(this.ports.sealing().open(sealed), 'base64');
      return version === 'v1' ? hmacOf(bytes) : ed25519Of(bytes);
    });
  }
}

function hmacOf(key: Buffer): Opened {
  return {
    shown: { version: 'v1', key: `${SECRET}${key.toString('base64')}` },
    signatureOf: (content) => createHmac('sha256', key).update(content).digest('base64'),
  };
}

function ed25519Of(seed: Buffer): Opened {
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return {
    shown: { version: 'v1a', key: `${PUBLIC_KEY}${rawPublicKey(key).toString('base64')}` },
    signatureOf: (content) => sign(null, content, key).toString('base64'),
  };
}

/** The last 32 bytes of the encoded public key (RFC 8410). */
function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES);
}
