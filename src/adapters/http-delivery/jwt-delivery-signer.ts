/**
 * Signatures of deliveries: HS256 tokens whose key is the UTF-8 of the whole text of the account's current key.
 *
 * Some receivers allow no difference between the clocks. `iat` and `nbf` therefore lie a little in the past, while
 * `exp` is measured from now: a signature is good for five minutes wherever clocks agree within CLOCK_SLACK_SECONDS.
 */
import { hash } from 'node:crypto';
import { calledUrl, obtain, Remembered } from '../../kernel/index.js';
import type { DeliverySigner, Random, SignedCall, SigningKeyBook } from '../../ports/index.js';
import { Hs256 } from './hs256.js';

export interface SignerOptions {
  readonly keys: SigningKeyBook;
  readonly random: Random;
}

const CLOCK_SLACK_SECONDS = 15;
const SIGNATURE_LIFE_SECONDS = 300;
/** Keys whose signers are kept; a key more pushes the oldest out. */
const MAX_SIGNERS = 1000;
const TOKEN_ID_BYTES = 18;
const HEADER = base64url('{"alg":"HS256","typ":"JWT"}');

type Claimed = Pick<SignedCall, 'url' | 'issuer'> & { readonly nowSeconds: number };

export class JwtDeliverySigner implements DeliverySigner {
  /** By the key's text: keys may change between any two calls. */
  readonly #signers = new Remembered<string, Hs256>(MAX_SIGNERS);
  /** What the claims of the newest call begin with; many that follow it say the same. */
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
    return `${signed}.${obtain(this.#signers, key, () => new Hs256(key)).of(signed)}`;
  }

  /** The claims that the second, the destination and the issuer decide, and the comma behind them. */
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
