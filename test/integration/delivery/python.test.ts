/** Receivers in Python accept the signatures of deliveries. */
import { expect } from 'chai';
import { JwtDeliverySigner } from '../../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import type { AccountId } from '../../../src/kernel/index.js';
import { PythonReceiver, type SignedCase } from '../../support/python-receiver.js';

const CURRENT = 'sig_4xvkVwQ8NpTmAzGyBhRuLcEfDsJo';
const NEXT = 'sig_7WbYtHnKiMqXrPaZeVgCdUjFoSLs';
const URL_CALLED = 'https://a.example/hook?x=1';

function signed(body: string, { key = CURRENT, nowMs = Date.now() } = {}): string {
  const keys = { signingKeysOf: () => ({ current: key, next: 'sig_unused' }) };
  const signer = new JwtDeliverySigner({ keys, random: new NodeRandom() });
  const call = { account: 'ac-1' as AccountId, url: URL_CALLED, body: Buffer.from(body), nowMs, issuer: 'Upstash' };
  return signer.sign(call) as string;
}

describe('a delivery signature, checked by receivers in Python', () => {
  let receiver: PythonReceiver | undefined;

  before(async function () {
    this.timeout(120_000);
    receiver = await PythonReceiver.found({ current: CURRENT, next: NEXT });
    if (receiver === undefined) this.skip();
  });

  async function verdicts(cases: readonly Omit<SignedCase, 'url'>[], url = URL_CALLED): Promise<string[]> {
    return (receiver as PythonReceiver).verdicts(cases.map((given) => ({ ...given, url })));
  }

  it('is accepted for every body, with the current and the next key, and with clocks 10 s apart', async () => {
    const answers = await verdicts([
      { name: 'empty', token: signed(''), body: '' },
      { name: 'unicode', token: signed('caf\u00e9 \u{1f600}'), body: 'caf\u00e9 \u{1f600}' },
      { name: 'next key', token: signed('b', { key: NEXT }), body: 'b' },
      { name: 'our clock ahead', token: signed('b', { nowMs: Date.now() + 10_000 }), body: 'b' },
      { name: 'our clock behind', token: signed('b', { nowMs: Date.now() - 10_000 }), body: 'b' },
    ]);
    expect(answers).to.deep.equal([
      'empty: ok',
      'unicode: ok',
      'next key: ok',
      'our clock ahead: ok',
      'our clock behind: ok',
    ]);
  });

  it('is refused for another body, key or URL, and when it is too old or from the future', async () => {
    const answers = await verdicts([
      { name: 'body', token: signed('b'), body: 'c' },
      { name: 'key', token: signed('b', { key: 'sig_other' }), body: 'b' },
      { name: 'age', token: signed('b', { nowMs: Date.now() - 301_000 }), body: 'b' },
      { name: 'to come', token: signed('b', { nowMs: Date.now() + 60_000 }), body: 'b' },
    ]);
    expect(answers).to.deep.equal(['body: refused', 'key: refused', 'age: refused', 'to come: refused']);
    expect(await verdicts([{ name: 'url', token: signed('b'), body: 'b' }], 'https://a.example/')).to.deep.equal([
      'url: refused',
    ]);
  });
});
