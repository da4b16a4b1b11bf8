/**
 * Signatures of deliveries: HS256 tokens whose key is the UTF-8 of the whole text of the account's current key.
 *
 * Some receivers allow no difference between the clocks. `iat` and `nbf` therefore lie a little in the past, while
 * `exp` is measured from now: a signature is good for five minutes wherever clocks agree within CLOCK_SLACK_SECONDS.
 */
import { hash } from 'node:crypto';
import { createSigner } from 'fast-jwt';
import { calledUrl } from '../../kernel/index.js';
import type { DeliverySigner, Random, SignedCall, SigningKeyBook } from '../../ports/index.js';

export interface SignerOptions {
  readonly keys: SigningKeyBook;
  readonly random: Random;
}

const CLOCK_SLACK_SECONDS = 15;
const SIGNATURE_LIFE_SECONDS = 300;
/** Keys whose signers are kept; a key more pushes the oldest out. */
const MAX_SIGNERS = 1000;
const TOKEN_ID_BYTES = 18;

type Sign = (claims: Record<string, string | number>) => string;

export class JwtDeliverySigner implements DeliverySigner {
  /** They are kept by the key's text: keys may change between any two calls. */
  readonly #signers = new Map<string, Sign>();

  constructor(readonly options: SignerOptions) {}

  sign({ account, url, body, bodyHash, nowMs, issuer }: SignedCall): string | undefined {
    const key = this.options.keys.signingKeysOf(account)?.current;
    if (key === undefined) return undefined;
    const nowSeconds = Math.floor(nowMs / 1000);
    return this.#signerOf(key)({
      iss: issuer,
      sub: calledUrl(url),
      iat: nowSeconds - CLOCK_SLACK_SECONDS,
      nbf: nowSeconds - CLOCK_SLACK_SECONDS,
      exp: nowSeconds + SIGNATURE_LIFE_SECONDS,
      jti: `jwt_${Buffer.from(this.options.random.bytes(TOKEN_ID_BYTES)).toString('base64url')}`,
      // Padded.
      body: `${bodyHash ?? hash('sha256', body, 'base64url')}=`,
    });
  }

  #signerOf(key: string): Sign {
    const known = this.#signers.get(key);
    if (known !== undefined) return known;
    const signer = createSigner({ key, algorithm: 'HS256' });
    if (this.#signers.size >= MAX_SIGNERS) this.#signers.delete(this.#signers.keys().next().value as string);
    this.#signers.set(key, signer);
    return signer;
  }
}
