/** The published receiver of the reference clients accepts the signatures of deliveries. */
import { Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { JwtDeliverySigner } from '../../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import type { AccountId } from '../../../src/kernel/index.js';

const CURRENT = 'sig_4xvkVwQ8NpTmAzGyBhRuLcEfDsJo';
const NEXT = 'sig_7WbYtHnKiMqXrPaZeVgCdUjFoSLs';
const URL_CALLED = 'https://a.example/hook?x=1&y=%C3%A9';

describe('a delivery signature, checked by the published receiver', () => {
  const receiver = new Receiver({ currentSigningKey: CURRENT, nextSigningKey: NEXT });

  function signed(body: string, { key = CURRENT, nowMs = Date.now() } = {}): string {
    const keys = { signingKeysOf: () => ({ current: key, next: 'sig_unused' }) };
    const signer = new JwtDeliverySigner({ keys, random: new NodeRandom() });
    const call = { account: 'ac-1' as AccountId, url: URL_CALLED, body: Buffer.from(body), nowMs, issuer: 'Upstash' };
    return signer.sign(call) as string;
  }

  for (const body of ['', '{"a":1}', 'caf\u00e9 \u{1f600}', 'x'.repeat(100_000)]) {
    it(`is accepted for a body of ${Buffer.byteLength(body)} bytes`, async () => {
      expect(await receiver.verify({ signature: signed(body), body, url: URL_CALLED })).to.equal(true);
    });
  }

  it('is accepted after a rotation, when the receiver knows the key as its next one', async () => {
    expect(await receiver.verify({ signature: signed('b', { key: NEXT }), body: 'b' })).to.equal(true);
  });

  it('is accepted when the clocks differ by 10 s either way', async () => {
    for (const aheadMs of [-10_000, 10_000]) {
      const signature = signed('b', { nowMs: Date.now() + aheadMs });
      expect(await receiver.verify({ signature, body: 'b', url: URL_CALLED })).to.equal(true);
    }
  });

  const refused: [string, () => { signature: string; body: string; url?: string }][] = [
    ['another body', () => ({ signature: signed('b'), body: 'c' })],
    ['another destination', () => ({ signature: signed('b'), body: 'b', url: 'https://a.example/other' })],
    ['another key', () => ({ signature: signed('b', { key: 'sig_other' }), body: 'b' })],
    [
      'an age of more than five minutes',
      () => ({ signature: signed('b', { nowMs: Date.now() - 301_000 }), body: 'b' }),
    ],
    ['a time in the future', () => ({ signature: signed('b', { nowMs: Date.now() + 60_000 }), body: 'b' })],
  ];
  for (const [fault, call] of refused) {
    it(`is refused for ${fault}`, async () => {
      const outcome = await receiver.verify(call()).catch((error: Error) => error.name);
      expect(outcome).to.equal('SignatureError');
    });
  }
});
