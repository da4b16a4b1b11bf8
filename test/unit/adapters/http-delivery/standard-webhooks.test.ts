/** Signatures as receivers check them: with the published package of Standard Webhooks, and Ed25519 with Node's own. */
import { createPublicKey, verify } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { StandardWebhooks } from '../../../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import type { EndpointSecret } from '../../../../src/domain/queue/index.js';

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const BODY = Buffer.from('{"id":"in_1"}');

describe('adapters/http-delivery: webhooks', () => {
  const signer = new StandardWebhooks({
    random: new NodeRandom(),
    sealing: () => ({ seal: (text) => text, open: (sealed) => sealed }),
  });
  const held = (made: Pick<EndpointSecret, 'version' | 'sealed'>): EndpointSecret => ({
    ...made,
    createdAtMs: 0,
    expiresAtMs: undefined,
  });
  const headers = (...secrets: EndpointSecret[]) => {
    const list = signer.headersFor({ id: 'evt_1', nowMs: Date.now(), body: BODY, secrets });
    return Object.fromEntries(list.map(([name, value]) => [name.toLowerCase(), value]));
  };

  it('a v1 signature is accepted by the published package, with the new and with the replaced secret', () => {
    const [newer, older] = [held(signer.made('v1')), held(signer.made('v1'))];
    const sent = headers(newer, older);
    for (const secret of [newer, older]) {
      const { key } = signer.shown(secret);
      expect(new Webhook(key).verify(BODY.toString(), sent)).to.deep.equal({ id: 'in_1' });
    }
    const { key } = signer.shown(held(signer.made('v1')));
    expect(() => new Webhook(key).verify(BODY.toString(), sent)).to.throw('No matching signature');
  });

  it('a secret that was given signs as it does in the published package', () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const sent = headers(held(signer.given(secret)));
    const at = new Date(Number(sent['webhook-timestamp']) * 1000);
    expect(sent['webhook-signature']).to.equal(new Webhook(secret).sign('evt_1', at, BODY.toString()));
    for (const wrong of ['whsec_', 'secret', `whsec_${Buffer.alloc(23).toString('base64')}`, 'whsec_%%%']) {
      expect(() => signer.given(wrong), wrong).to.throw('secret: must be whsec_');
    }
  });

  it('a v1a signature is that of the public key that the secret shows', () => {
    const secret = held(signer.made('v1a'));
    const { version, key } = signer.shown(secret);
    expect([version, key.slice(0, 5)]).to.deep.equal(['v1a', 'whpk_']);
    const sent = headers(secret, held(signer.made('v1')));
    const [name, signature = ''] = sent['webhook-signature']?.split(' ')[0]?.split(',') ?? [];
    const raw = Buffer.from(key.slice(5), 'base64');
    const publicKey = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
    const content = Buffer.from(`evt_1.${sent['webhook-timestamp']}.${BODY}`);
    expect(name).to.equal('v1a');
    expect(verify(null, content, publicKey, Buffer.from(signature, 'base64'))).to.equal(true);
  });
});
