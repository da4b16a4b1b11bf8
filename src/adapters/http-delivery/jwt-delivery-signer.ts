/**
 * Signs deliveries with HS256 tokens; the key is the UTF-8 of the account's current key text.
 *
 * Some receivers allow no clock difference, so `iat` and `nbf` are slightly in the past, while `exp` is measured from
 * now: a signature is valid for five minutes where clocks agree within CLOCK_SLACK_SECONDS.
 */
import { hash } from 'node:crypto';
import { BoundedCache, calledUrl, getOrCreate } from '../../kernel/index.js';
import type { DeliverySigner, Random, SignedCall, SigningKeyBook } from '../../ports/index.js';

const BLOCK_BYTES = 64;

const HASH_BYTES = 32;

const INNER_PAD = 0x36;

const OUTER_PAD = 0x5c;

/**
 * HMAC-SHA256 with a reused key (RFC 2104): two hashes, each in one call. A crypto object for each message costs twice
 * as much (docs/decisions/delivery.md).
 */
export class Hs256 {
  /** The padded key, followed by the signed text or the inner hash, which are overwritten each time. */
  #inner = Buffer.alloc(BLOCK_BYTES, INNER_PAD);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, OUTER_PAD);

  /** @param key counted as UTF-8 */
  constructor(key: string) {
    const given = Buffer.from(key);
    const bytes = given.length > BLOCK_BYTES ? Buffer.from(hash('sha256', given, 'binary'), 'latin1') : given;
    for (const [at, byte] of bytes.entries()) {
      this.#inner[at] = byte ^ INNER_PAD;
      this.#outer[at] = byte ^ OUTER_PAD;
    }
  }

  /** @param text ASCII. @returns base64url without padding */
  of(text: string): string {
    const end = BLOCK_BYTES + text.length;
    if (end > this.#inner.length) this.#inner = Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES)], end * 2);
    this.#inner.write(text, BLOCK_BYTES, 'latin1');
    this.#outer.write(hash('sha256', this.#inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, 'base64url');
  }
}

export interface SignerOptions {
  readonly keys: SigningKeyBook;
  readonly random: Random;
}

const CLOCK_SLACK_SECONDS = 15;
const SIGNATURE_LIFE_SECONDS = 300;
/** Kept signers; above this number the oldest is dropped. */
const MAX_SIGNERS = 1000;
const TOKEN_ID_BYTES = 18;
const HEADER = base64url('{"alg":"HS256","typ":"JWT"}');

type Claimed = Pick<SignedCall, 'url' | 'issuer'> & { readonly nowSeconds: number };

export class JwtDeliverySigner implements DeliverySigner {
  /** By the key's text, because keys may change between any two calls. */
  readonly #signers = new BoundedCache<string, Hs256>(MAX_SIGNERS);
  /** The first claims of the newest call, which later calls often share. */
  #claimed: Claimed = { url: '', issuer: '', nowSeconds: Number.NaN };
  #claims = '';

  constructor(readonly options: SignerOptions) {}

  sign({ account, url, body, bodyHash, nowMs, issuer }: SignedCall): string | undefined {
    const key = this.options.keys.signingKeysOf(account)?.current;
    if (key === undefined) return undefined;
    const id = Buffer.from(this.options.random.bytes(TOKEN_ID_BYTES)).toString('base64url');
    const bodyClaim = bodyHash ?? hash('sha256', body, 'base64url');
    const begun = this.#begun({ url, issuer, nowSeconds: Math.floor(nowMs / 1000) });
    // The hash is padded.
    const signed = `${HEADER}.${base64url(`${begun}"jti":"jwt_${id}","body":"${bodyClaim}="}`)}`;
    return `${signed}.${getOrCreate(this.#signers, key, () => new Hs256(key)).of(signed)}`;
  }

  /** The claims of second, destination and issuer, and the comma after them. */
  #begun(asked: Claimed): string {
    const { url, issuer, nowSeconds } = asked;
    const before = this.#claimed;
    if (before.nowSeconds === nowSeconds && before.url === url && before.issuer === issuer) return this.#claims;
    const claims = {
      iss: issuer,
      sub: calledUrl(url),
      iat: nowSeconds - CLOCK_SLACK_SECONDS,
      nbf: nowSeconds - CLOCK_SLACK_SECONDS,
      exp: nowSeconds + SIGNATURE_LIFE_SECONDS,
    };
    this.#claimed = asked;
    this.#claims = `${JSON.stringify(claims).slice(0, -1)},`;
    return this.#claims;
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
