/** The MAC of signatures, compared with node:crypto. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Hs256 } from '../../../../src/adapters/http-delivery/jwt-delivery-signer.js';

const ofPlatform = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');

describe('HMAC-SHA256 with a reused key', () => {
  for (const key of ['', 'k', 'ключ', 'k'.repeat(64), 'k'.repeat(65), 'ü'.repeat(200)]) {
    it(`equals that of node:crypto, with a key of ${Buffer.byteLength(key)} bytes`, () => {
      const mac = new Hs256(key);
      for (const text of ['', 'a', 'b'.repeat(100), 'c'.repeat(10_000), 'd'.repeat(55)]) {
        expect(mac.of(text)).to.equal(ofPlatform(key, text));
      }
    });
  }
});
